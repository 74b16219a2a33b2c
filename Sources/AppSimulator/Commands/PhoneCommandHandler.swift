/// A phone, or many, whose user gives commands.
package protocol PhoneCommandHandler<Command>: Sendable {
    associatedtype Command: TypedCommand

    /// Carries out a command of the user.
    /// - Returns: The text that it prints, and the same as JSON; `nil` for none.
    /// - Throws: ``PhoneError`` for a command that cannot be carried out now, ``WaitError`` for a wait that timed out.
    func perform(_ command: Command) async throws -> SimulatorResponse?

    /// Sends what waits to be sent, for a limited time.
    /// - Returns: The number of receipts that wait for the next run.
    func flush() async -> Int
}

/// A command to a phone, as one line of standard input or of a script.
package protocol TypedCommand: Hashable, Sendable {
    /// Reads a line. Returns `nil` for an empty one, and for a comment, which begins with `#`.
    /// - Throws: ``CommandError`` that says what the command takes.
    init?(parsing line: some StringProtocol) throws

    /// Ends the phone.
    static var quit: Self { get }
}

extension PhoneCommand: TypedCommand {}
