import AppSimulator
import Foundation
import MartletKit
import PushSupport
import ServiceLifecycle

/// Takes commands one after the other, until there are no more, and sends what waits then.
struct SimulatorConsole<Phone: PhoneCommandHandler>: Service {
    let simulator: Phone
    /// The commands; `nil` for those of standard input.
    let input: [Phone.Command]?
    let printer: SimulatorPrinter

    func run() async throws {
        do {
            try await cancelWhenGracefulShutdown { try await self.takeCommands() }
        } catch is CancellationError {
            // Ctrl-C may come in the middle of a command.
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
                // A terminal can repeat the command.
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

    /// Sends what waits to be sent, and tells what is left for the next run.
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
