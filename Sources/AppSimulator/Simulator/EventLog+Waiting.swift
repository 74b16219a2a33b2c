import PushSupport

extension EventLog {
    /// Waits for events that no wait has counted yet.
    /// - Throws: ``WaitError`` if there are too few in that time, and `CancellationError`.
    func wait(for name: SimulatorEvent.Name, count: Int, seconds: Int) async throws {
        let tally = self.tally
        let isComplete = try? await withTimeLimit(.seconds(seconds)) { await tally.wait(for: count, name) }
        guard isComplete != true else { return }
        try Task.checkCancellation()
        throw WaitError(
            name: name,
            count: count,
            seconds: seconds,
            present: tally.count(of: name),
            self.lastProblem
        )
    }

    /// Carries out a command that is about the events of a reader, or about nothing of it.
    /// - Throws: ``WaitError``, and `CancellationError`.
    func perform(_ command: LibraryCommand) async throws -> SimulatorAnswer? {
        switch command {
        case .wait(let name, let count, let seconds): try await self.wait(for: name, count: count, seconds: seconds)
        case .stay: try await Task.sleep(for: .seconds(Int64.max / 4))
        case .help: return SimulatorAnswer(help: LibraryCommand.helpText)
        default: break
        }
        return nil
    }
}
