import PushSupport

extension SimulatorEventLog {
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
}
