module cutpoint/tests/oracles

go 1.26.5

require (
	github.com/buildbarn/go-cdc v0.0.10
	github.com/ipfs/boxo v0.39.0
)

require (
	github.com/ipfs/go-log/v2 v2.9.1 // indirect
	github.com/libp2p/go-buffer-pool v0.1.0 // indirect
	github.com/mattn/go-isatty v0.0.20 // indirect
	github.com/whyrusleeping/chunker v0.0.0-20181014151217-fe64bd25879f // indirect
	go.uber.org/multierr v1.11.0 // indirect
	go.uber.org/zap v1.27.1 // indirect
	golang.org/x/sys v0.43.0 // indirect
)
