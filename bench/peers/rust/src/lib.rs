//! Chunkers and hashers of Rust crates, as peers in the form of bench/peers/peers.h.

use mincdc::{Cdc, MinCdc4, MinCdcHash4, SliceChunker};
use std::ffi::{c_char, CStr, CString};

#[repr(C)]
pub struct Message {
    bytes: *const u8,
    size: usize,
    digest: *mut u8,
}

type Cut = unsafe extern "C" fn(*const u8, usize, *mut u64) -> usize;
type Hash = unsafe extern "C" fn(*const Message, usize);

#[repr(C)]
pub struct Peer {
    name: *const c_char,
    work: *const c_char,
    size: *const c_char,
    has_same_definition: bool,
    cut: Option<Cut>,
    hash: Option<Hash>,
}

/// Returns the name of a crate with the version that Cargo.toml asks for.
fn with_version(name: &str) -> CString {
    let version = include_str!("../Cargo.toml").lines().find_map(|line| {
        line.strip_prefix(name)?
            .strip_prefix(" = \"=")?
            .strip_suffix('"')
    });
    let limit = if name == "blake3" && cfg!(feature = "no_avx512") {
        " avx2"
    } else {
        ""
    };
    CString::new(format!("{name} {}{limit}", version.unwrap_or("?"))).unwrap()
}

fn chunker(name: &str, work: &'static CStr, size: &'static CStr, cut: Cut) -> Peer {
    Peer {
        name: with_version(name).into_raw(),
        work: work.as_ptr(),
        size: size.as_ptr(),
        has_same_definition: true,
        cut: Some(cut),
        hash: None,
    }
}

fn hasher(name: &str, work: &'static CStr, hash: Hash) -> Peer {
    Peer {
        name: with_version(name).into_raw(),
        work: work.as_ptr(),
        size: c"".as_ptr(),
        has_same_definition: true,
        cut: None,
        hash: Some(hash),
    }
}

/// Writes the ends of chunks one after the other and returns their number.
unsafe fn write_ends(ends: *mut u64, found: impl Iterator<Item = usize>) -> usize {
    let mut count = 0;
    for end in found {
        *ends.add(count) = end as u64;
        count += 1;
    }
    count
}

unsafe fn slice<'a>(bytes: *const u8, size: usize) -> &'a [u8] {
    std::slice::from_raw_parts(bytes, size)
}

unsafe extern "C" fn cut_fastcdc(bytes: *const u8, size: usize, ends: *mut u64) -> usize {
    let chunks = fastcdc::v2020::FastCDC::new(slice(bytes, size), 2048, 8192, 65536);
    write_ends(ends, chunks.map(|chunk| chunk.offset + chunk.length))
}

unsafe extern "C" fn cut_ronomon(bytes: *const u8, size: usize, ends: *mut u64) -> usize {
    let chunks = fastcdc::ronomon::FastCDC::new(slice(bytes, size), 2048, 8192, 65536);
    write_ends(ends, chunks.map(|chunk| chunk.offset + chunk.length))
}

/// Xet cuts at a match of the gear hash after 8 KiB at least and 128 KiB at most. The hash is of the last 64 bytes, so
/// the bytes before these are skipped.
unsafe extern "C" fn cut_xet(bytes: *const u8, size: usize, ends: *mut u64) -> usize {
    const WINDOW: usize = 64;
    const MIN: usize = 8 << 10;
    const MAX: usize = 128 << 10;
    let mut rest = slice(bytes, size);
    let found = std::iter::from_fn(|| {
        let longest = &rest[..rest.len().min(MAX)];
        let mut length = longest.len();
        if length > MIN {
            let mut hasher = gearhash::Hasher::default();
            hasher.update(&longest[MIN - WINDOW..MIN - 1]);
            length = hasher
                .next_match(&longest[MIN - 1..], 0xffff << 48)
                .map_or(length, |more| MIN - 1 + more);
        }
        rest = &rest[length..];
        (length > 0).then_some(size - rest.len())
    });
    write_ends(ends, found)
}

unsafe fn cut_mincdc(bytes: *const u8, size: usize, ends: *mut u64, cdc: impl Cdc) -> usize {
    let chunks = SliceChunker::new(slice(bytes, size), 4096, 12288, cdc);
    write_ends(ends, chunks.map(|chunk| chunk.offset() + chunk.len()))
}

unsafe extern "C" fn cut_mincdc4(bytes: *const u8, size: usize, ends: *mut u64) -> usize {
    cut_mincdc(bytes, size, ends, MinCdc4::default())
}

unsafe extern "C" fn cut_mincdchash4(bytes: *const u8, size: usize, ends: *mut u64) -> usize {
    cut_mincdc(bytes, size, ends, MinCdcHash4::new())
}

/// The lengths are Cutpoint's for an average of 8 KiB. The crate cuts one byte earlier, begins its search at the
/// minimum, and takes equal neighbours neither as a step nor as the end of a sequence.
unsafe extern "C" fn cut_seqcdc(bytes: *const u8, size: usize, ends: *mut u64) -> usize {
    let lengths = seq_chunking::ChunkingConfig::builder()
        .min_block_size(4096)
        .avg_block_size(8192)
        .max_block_size(16384)
        .seq_threshold(5)
        .jump_trigger(45)
        .jump_size(320);
    let chunker = seq_chunking::SeqChunking::from_config(lengths.build().unwrap());
    write_ends(
        ends,
        chunker
            .chunk_all(slice(bytes, size))
            .map(|chunk| chunk.end()),
    )
}

unsafe extern "C" fn hash_blake3(messages: *const Message, count: usize) {
    for message in std::slice::from_raw_parts(messages, count) {
        let digest = blake3::hash(slice(message.bytes, message.size));
        std::ptr::copy_nonoverlapping(digest.as_bytes().as_ptr(), message.digest, blake3::OUT_LEN);
    }
}

/// Returns the peers and sets `count` to their number. They live as long as the program. The back end is Cutpoint's.
///
/// # Safety
///
/// `count` must be valid.
#[no_mangle]
pub unsafe extern "C" fn cutpoint_peers(_backend: *const c_char, count: *mut usize) -> *const Peer {
    let seqcdc = Peer {
        has_same_definition: false,
        ..chunker("seq_chunking", c"seqcdc-inc", c"4K:8K:16K", cut_seqcdc)
    };
    let peers = vec![
        chunker("fastcdc", c"fastcdc2020", c"2K:8K:64K", cut_fastcdc),
        chunker("fastcdc", c"ronomon", c"2K:8K:64K", cut_ronomon),
        chunker("gearhash", c"xet", c"", cut_xet),
        chunker("mincdc", c"mincdc4", c"4K:8K:12K", cut_mincdc4),
        chunker("mincdc", c"mincdchash4", c"4K:8K:12K", cut_mincdchash4),
        seqcdc,
        hasher("blake3", c"blake3", hash_blake3),
    ];
    *count = peers.len();
    Box::leak(peers.into_boxed_slice()).as_ptr()
}
