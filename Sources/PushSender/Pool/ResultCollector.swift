import PushTypes

/// Collects the outcomes of several pushes, so that each batch receives all of its own at once.
struct ResultCollector {
    private var results: [SendResult]
    private var batch: SendBatch?
    private let connection: OpenedConnection?

    /// - Parameters:
    ///   - memory: An empty array whose memory is used. ``finish()`` returns it.
    ///   - connection: The connection that carried the pushes.
    init(_ memory: inout [SendResult], over connection: OpenedConnection?) {
        (self.results, self.connection) = ([], connection)
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
        batch.finish(self.results, over: self.connection)
        self.results.removeAll(keepingCapacity: true)
    }
}
