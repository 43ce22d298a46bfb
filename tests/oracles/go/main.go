// Chunk lengths from chunkers that are Go packages, for jobs given as JSON on standard input (see ../oracle.py).
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"os"

	"github.com/buildbarn/go-cdc"
	chunk "github.com/ipfs/boxo/chunker"
)

type job struct {
	Chunker  string
	Paths    []string
	MinBytes int `json:"min_bytes"`
	Horizon  int
}

// nextChunk returns a stream's chunks one by one, then io.EOF.
type nextChunk func() ([]byte, error)

func open(j job, file io.Reader) (nextChunk, error) {
	gear := &cdc.FastContentDefinedChunkerGearTable
	switch j.Chunker {
	case "ipfs-buzhash":
		return chunk.NewBuzhash(file).NextBytes, nil
	case "repmaxcdc":
		return peeking(cdc.NewRepMaxContentDefinedChunker(gear, j.MinBytes, j.Horizon), file), nil
	case "repmaxcdc-simple":
		return peeking(cdc.NewSimpleRepMaxContentDefinedChunker(gear, j.MinBytes, j.Horizon), file), nil
	}
	return nil, fmt.Errorf("unknown chunker %q", j.Chunker)
}

func peeking(c cdc.ContentDefinedChunker, file io.Reader) nextChunk {
	return c.NewChunkReader(bufio.NewReaderSize(file, c.GetMaximumPeekSizeBytes())).ReadNextChunk
}

func lengths(j job, path string) ([]int, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	next, err := open(j, file)
	if err != nil {
		return nil, err
	}
	found := []int{}
	for {
		data, err := next()
		if errors.Is(err, io.EOF) {
			return found, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		found = append(found, len(data))
	}
}

func main() {
	var jobs []job
	if err := json.NewDecoder(os.Stdin).Decode(&jobs); err != nil {
		log.Fatal(err)
	}
	answers := make([][][]int, len(jobs))
	for i, j := range jobs {
		answers[i] = make([][]int, len(j.Paths))
		for k, path := range j.Paths {
			found, err := lengths(j, path)
			if err != nil {
				log.Fatal(err)
			}
			answers[i][k] = found
		}
	}
	if err := json.NewEncoder(os.Stdout).Encode(answers); err != nil {
		log.Fatal(err)
	}
}
