// The canonical string of every name in the catalog.
#pragma once

#include <map>
#include <string_view>

namespace cutpoint::tests {

/// The canonical string for each name. A change of any line changes the cuts of existing users.
inline const std::map<std::string_view, std::string_view> pinned = {
    {"gear", "gear(min_bytes=2048,avg_bytes=8192,max_bytes=65536,table=fastcdc2020)"},
    {"rabin", "rabin(min_bytes=2048,avg_bytes=8192,max_bytes=65536,window=48,poly=0x3da3358b4dc173,test=pattern)"},
    {"rabin-inck", "rabin-inck(min_bytes=2048,avg_bytes=8192,max_bytes=65536,window=48)"},
    {"adler", "adler(min_bytes=2048,avg_bytes=8192,max_bytes=65536,window=48)"},
    {"crc32", "crc32(min_bytes=2048,avg_bytes=8192,max_bytes=65536,window=48)"},
    {"buzhash", "buzhash(min_bytes=2048,avg_bytes=8192,max_bytes=65536,window=48,table=casync,test=ones)"},
    {"tttd", "tttd(min_bytes=2048,avg_bytes=8192,max_bytes=65536,window=48,poly=0x3da3358b4dc173)"},
    {"fastcdc", "fastcdc(min_bytes=2048,avg_bytes=8192,max_bytes=65536,normalization=2,seed=0x0)"},
    {"maxp", "maxp(min_bytes=885,avg_bytes=8192,max_bytes=65536,half_window=885)"},
    {"ae-max", "ae(avg_bytes=8192,max_bytes=65536,window=7936,value_bytes=1,lest=0,extreme=max)"},
    {"ae-min", "ae(avg_bytes=8192,max_bytes=65536,window=7936,value_bytes=1,lest=0,extreme=min)"},
    {"ram", "ram(avg_bytes=8192,max_bytes=16384,window=7936)"},
    {"seqcdc-inc",
     "seqcdc(min_bytes=4096,avg_bytes=8192,max_bytes=16384,seq_length=5,skip_trigger=45,skip_size=320,order="
     "increasing)"},
    {"seqcdc-dec",
     "seqcdc(min_bytes=4096,avg_bytes=8192,max_bytes=16384,seq_length=5,skip_trigger=45,skip_size=320,order="
     "decreasing)"},
    {"mincdc4", "mincdc(min_bytes=4096,avg_bytes=8192,max_bytes=12288,multiplier=0x1,addend=0x0)"},
    {"mincdchash4", "mincdc(min_bytes=4096,avg_bytes=8192,max_bytes=12288,multiplier=0x915f77f5,addend=0x34636463)"},
    {"fixed", "fixed(avg_bytes=8192)"},
    {"toeplitz-aes",
     "toeplitz-aes(min_exp=19,max_exp=23,mask_bits=21,normalization=2,normal_size=0,key=09408fecf594e2b1)"},
    {"rabin-aes", "rabin-aes(min_exp=19,max_exp=23,mask_bits=21,normalization=2,normal_size=0,key=09408fecf594e2b1)"},
    {"toeplitz128-aes",
     "toeplitz128-aes(min_exp=19,max_exp=23,mask_bits=21,normalization=2,normal_size=0,key=09408fecf594e2b1)"},
    {"borg2-toeplitz-aes",
     "toeplitz-aes(min_exp=19,max_exp=23,mask_bits=21,normalization=2,normal_size=0,key=09408fecf594e2b1)"},
    {"borg2-rabin-aes",
     "rabin-aes(min_exp=19,max_exp=23,mask_bits=21,normalization=2,normal_size=0,key=09408fecf594e2b1)"},
    {"xet", "gear(min_bytes=8192,avg_bytes=65536,max_bytes=131072,table=xet)"},
    {"restic",
     "rabin(min_bytes=524288,avg_bytes=1048576,max_bytes=8388608,window=64,poly=0x3da3358b4dc173,test=zeros)"},
    {"kopia-buzhash",
     "buzhash(min_bytes=2097152,avg_bytes=4194304,max_bytes=8388608,window=64,table=kopia,test=zeros)"},
    {"casync", "buzhash(min_bytes=16384,avg_bytes=65536,max_bytes=262144,window=48,table=casync,test=casync)"},
    {"desync-legacy",
     "buzhash(min_bytes=16384,avg_bytes=65536,max_bytes=262144,window=48,table=casync,test=desync-legacy)"},
    {"pbs", "buzhash(min_bytes=1048576,avg_bytes=4194304,max_bytes=16777216,window=64,table=casync,test=pbs)"},
    {"ipfs-buzhash", "buzhash(min_bytes=131072,avg_bytes=131072,max_bytes=524288,window=32,table=ipfs,test=zeros)"},
    {"fastcdc2020", "fastcdc(min_bytes=4096,avg_bytes=16384,max_bytes=65536,normalization=1,seed=0x0)"},
    {"borg2-fastcdc",
     "borg2-fastcdc(min_exp=19,max_exp=23,mask_bits=21,normalization=2,key="
     "0000000000000000000000000000000000000000000000000000000000000000)"},
    {"ronomon", "ronomon(min_bytes=2048,avg_bytes=8192,max_bytes=65536)"},
    {"borg1", "borg1(min_exp=19,max_exp=23,mask_bits=21,window=4095,seed=0x0)"},
    {"repmaxcdc", "repmaxcdc(min_bytes=262144,horizon=2097152)"},
};

}  // namespace cutpoint::tests
