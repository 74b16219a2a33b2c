import ArgumentParser

/// The load of `make bench-bridge` for `martlet serve`. It prints lines `figure NAME VALUE UNIT`.
@main
struct BridgeBenchmark: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Requests of other systems for measuring a provider's bridges.",
        subcommands: [Matrix.self, Ledger.self]
    )
}
