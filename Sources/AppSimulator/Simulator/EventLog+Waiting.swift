extension EventLog {
    /// Waits for events that no wait has counted yet.
    /// - Throws: ``WaitError`` if there are too few in that time, and `CancellationError`.
    func wait(for name: SimulatorEvent.Name, count: Int, seconds: Int) async throws {
        let tally = self.tally
        let isComplete = await withTaskGroup(of: Bool.self) { group in
            group.addTask { await tally.wait(for: count, name) }
            group.addTask {
                try? await Task.sleep(for: .seconds(seconds))
                return false
            }
            defer { group.cancelAll() }
            return await group.next() ?? false
        }
        guard !isComplete else { return }
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
