import PushTypes

/// One connection at a time for each certificate topic: the next one must not be told what the one before has read.
actor FeedbackReaderQueue {
    /// Connections that may wait for one that reads.
    private static let limit = 16

    /// Who waits, for each topic whose list is being told.
    private var waiting: [Topic: [CheckedContinuation<Void, Never>]] = [:]

    /// Returns when it is the caller's turn, which lasts until ``leave(_:)``; `false` if too many wait already.
    func enter(_ topic: Topic) async -> Bool {
        guard let others = self.waiting[topic] else {
            self.waiting[topic] = []
            return true
        }
        guard others.count < Self.limit else { return false }
        await withCheckedContinuation { self.waiting[topic]?.append($0) }
        return true
    }

    func leave(_ topic: Topic) {
        if self.waiting[topic]?.isEmpty ?? true {
            self.waiting[topic] = nil
        } else {
            self.waiting[topic]?.removeFirst().resume()
        }
    }
}
