/// Gathers outcomes of one turn, so that each batch hears of all of its own at once.
struct ResultCollector {
    private var results: [SendResult]
    private var batch: SendBatch?

    /// - Parameter memory: an empty array whose room is used again; ``end()`` gives it back.
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

    /// Hands over what is left.
    mutating func end() -> [SendResult] {
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
