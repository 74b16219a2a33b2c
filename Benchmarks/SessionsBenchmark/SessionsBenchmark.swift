import ArgumentParser

/// The load of `make bench-sessions`: a chat server in a process of its own, at which a provider keeps sessions. It prints lines
/// `figure NAME VALUE UNIT`, and fails if it could not measure or a session was lost.
@main
struct SessionsBenchmark: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "A chat server for measuring a provider's sessions.",
        subcommands: [IdleSessions.self, BareConnections.self]
    )
}
