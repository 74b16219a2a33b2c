import AppSimulator
import ArgumentParser
import Foundation
import MartletKit
import PushSupport
import ServiceLifecycle

/// A service that executes a phone's commands one after the other, and sends pending receipts when it stops.
struct SimulatorConsole<Phone: PhoneCommandHandler>: Service {
    let simulator: Phone
    /// The commands to execute, or `nil` to read them from standard input.
    let input: [Phone.Command]?
    let printer: SimulatorPrinter

    func run() async throws {
        do {
            try await cancelWhenGracefulShutdown { try await self.takeCommands() }
        } catch is CancellationError {
            // Ctrl-C may interrupt a command.
        } catch {
            await self.flush()
            throw error
        }
        await self.flush()
    }

    private func takeCommands() async throws {
        if let input {
            for command in input {
                guard command != .quit else { return }
                try await self.perform(command)
            }
            return
        }
        let isTerminal = isatty(STDIN_FILENO) == 1
        if isTerminal { StandardError.line("'help' lists the commands; Ctrl-C ends") }
        for await line in SimulatorInput.lines() {
            do {
                guard let command = try Self.command(line) else { continue }
                guard command != .quit else { return }
                try await self.perform(command)
            } catch let error as any StatusError where isTerminal {
                // The user of a terminal can repeat the command.
                StandardError.line("Error: \(error)")
            }
        }
    }

    private static func command(_ line: String) throws -> Phone.Command? {
        do {
            return try Phone.Command(parsing: line)
        } catch {
            throw SettingsError("\(error)".printable, status: .usage)
        }
    }

    private func perform(_ command: Phone.Command) async throws {
        do {
            if let answer = try await self.simulator.perform(command) { self.printer.print(answer) }
        } catch let error as WaitError {
            throw SettingsError("\(error)".printable, status: .unfinished)
        } catch let error as PhoneError {
            throw SettingsError("\(error)".printable)
        } catch let error as MartletKit.Martlet.UsageError {
            throw SettingsError("\(error)".printable)
        }
    }

    /// Sends pending receipts, and prints the number of receipts that are left for the next run.
    private func flush() async {
        let note = Task {
            try await Task.sleep(for: .seconds(1))
            StandardError.line("sending what waits, within \(Simulator.flushTime.components.seconds) s")
        }
        let waiting = await self.simulator.flush()
        note.cancel()
        guard waiting > 0 else { return }
        StandardError.line("\(waiting) receipts wait: the next run with this folder sends them")
    }
}

/// The options for the user's commands to a phone, and for the format of the output.
struct ConsoleOptions: ParsableArguments {
    @Option(help: "File with commands, one a line.") var script: String?
    @Flag(help: "One line of JSON per event.") var json = false
    @Argument(parsing: .postTerminator, help: "Commands, after --; each is one argument.") var commands: [String] = []

    var printer: SimulatorPrinter { SimulatorPrinter(asJSON: self.json) }

    /// Returns the commands in the script or the arguments, or `nil` to read them from standard input.
    /// - Throws: `ValidationError` if both are given, and ``SettingsError`` that names the invalid line.
    func input<Command: TypedCommand>() throws -> [Command]? {
        guard self.script == nil || self.commands.isEmpty else {
            throw ValidationError("Give commands after -- or in a --script, not both.")
        }
        if let script {
            return try SimulatorInput.script(try InputFile.text(script, for: "--script"))
        }
        let commands: [Command] = try SimulatorInput.commands(self.commands, of: "the arguments after --")
        return commands.isEmpty ? nil : commands
    }
}

/// Parses the commands to the simulator from arguments, a script or standard input.
private enum SimulatorInput {
    /// Parses all commands of a script or of the arguments, so that a mistake is found before any command is executed.
    /// - Parameters:
    ///   - source: The name of the source in error messages.
    ///   - unit: The word that precedes the number of a command in error messages, such as `line`.
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

    /// Parses the commands of a script.
    /// - Throws: The same errors as ``commands(_:of:unit:)``.
    static func script<Command: TypedCommand>(_ text: String) throws -> [Command] {
        let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        return try Self.commands(lines.map(String.init), of: "--script", unit: "line")
    }

    /// Returns the lines of standard input as they arrive. A thread reads the lines, because reading blocks. The thread
    /// exits with the process.
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

/// Prints a simulator's events and responses to standard output.
struct SimulatorPrinter: Sendable {
    /// The width, in characters, of the column with the names of events.
    private static let width = 12

    /// A Boolean value that indicates whether events are printed as one line of JSON each, instead of as text.
    let asJSON: Bool

    /// Prints an event as its name followed by its lines, or as JSON if that was requested.
    func print(_ event: SimulatorEvent) {
        guard !self.asJSON else { return _ = (try? event.json.line).map { StandardOutput.line($0) } }
        StandardOutput.line(Self.text(event))
    }

    /// Prints the response to a command. In JSON mode, a response without a JSON form, such as help, is not printed.
    func print(_ answer: SimulatorResponse) {
        if !self.asJSON {
            StandardOutput.line(answer.lines.map(\.printable).joined(separator: "\n"))
        } else if answer.json != .null {
            _ = (try? answer.json.line).map { StandardOutput.line($0) }
        }
    }

    static func text(_ event: SimulatorEvent) -> String {
        let name = event.name.rawValue.padding(toLength: Self.width, withPad: " ", startingAt: 0)
        let indent = String(repeating: " ", count: Self.width)
        return event.lines.enumerated().map { index, line in
            // The further lines of a text are indented, so that they cannot look like events.
            let parts = line.split(whereSeparator: \.isNewline).map { String($0).printable }
            return (index == 0 ? name : indent) + parts.joined(separator: "\n\(indent)")
        }.joined(separator: "\n")
    }
}
