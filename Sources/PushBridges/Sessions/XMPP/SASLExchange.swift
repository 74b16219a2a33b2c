/// The state of an authentication.
enum SASLExchange: Hashable, Sendable {
    case plain
    /// The server's challenge is awaited.
    case first(SCRAMClient)
    /// The key is being derived.
    case deriving(SCRAMClient)
    /// The server's proof is awaited.
    case final(SCRAMClient)
    /// The server has proven that it knows the password.
    case proven
}
