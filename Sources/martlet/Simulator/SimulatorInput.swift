import AppSimulator
import Foundation

/// The commands to the simulator, from wherever they come.
enum SimulatorInput {
    /// Reads all commands of a script or of the arguments, so that a mistake ends it before anything is done.
    /// - Parameters:
    ///   - source: The words that name them in errors.
    ///   - unit: The word for one of them.
    /// - Throws: ``SettingsError`` that names the line.
    static func commands<Command: TypedCommand>(
        _ lines: [String],
        of source: String,
        unit: String = "command"
    ) throws -> [Command] {
        var commands: [Command] = []
        for (index, line) in lines.enumerated() {
            do {
                if let command = try Command(parsing: line) { commands.append(command) }
            } catch {
                throw SettingsError("\(source), \(unit) \(index + 1): \(error)".printable, status: .usage)
            }
        }
        return commands
    }

    /// Reads the commands of a script. Throws as ``commands(_:of:unit:)``.
    static func script<Command: TypedCommand>(_ text: String) throws -> [Command] {
        let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        return try Self.commands(lines.map(String.init), of: "--script", unit: "line")
    }

    /// Returns the lines of standard input as they come.
    ///
    /// A thread reads them, because reading blocks; it ends with the process.
    static func lines() -> AsyncStream<String> {
        let (lines, continuation) = AsyncStream<String>.makeStream()
        let thread = Thread {
            while let line = readLine() { continuation.yield(line) }
            continuation.finish()
        }
        thread.start()
        return lines
    }
}
