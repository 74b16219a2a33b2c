/// Collects the outcomes of several pushes, so that each batch receives all of its own at once.
struct ResultCollector {
    private var results: [SendResult]
    private var batch: SendBatch?

    /// - Parameter memory: An empty array whose memory is used. ``finish()`` returns it.
    init(_ memory: inout [SendResult]) {
        self.results = []
        swap(&self.results, &memory)
    }

    mutating func add(_ ticket: PushTicket, _ outcome: Outcome) {
        if self.batch !== ticket.batch {
            self.deliver()
            self.batch = ticket.batch
        }
        self.results.append(SendResult(index: ticket.index, outcome: outcome))
    }

    /// Delivers the last outcomes.
    /// - Returns: An empty array.
    mutating func finish() -> [SendResult] {
        self.deliver()
        return self.results
    }

    private mutating func deliver() {
        guard let batch else { return }
        self.batch = nil
        batch.finish(self.results)
        self.results.removeAll(keepingCapacity: true)
    }
}
