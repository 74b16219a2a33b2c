package import PushTypes

/// Admits one connection at a time for each certificate topic, so that no two get the same entries.
package actor FeedbackReaderQueue {
    /// The number of connections that may wait for the one that reads.
    private static let limit = 16

    /// The waiting connections of each topic that is being read.
    private var waiting: [Topic: [CheckedContinuation<Void, Never>]] = [:]

    package init() {}

    /// Returns `true` when it is the caller's turn, which lasts until ``leave(_:)``; `false` if too many wait already.
    package func enter(_ topic: Topic) async -> Bool {
        guard let others = self.waiting[topic] else {
            self.waiting[topic] = []
            return true
        }
        guard others.count < Self.limit else { return false }
        await withCheckedContinuation { self.waiting[topic]?.append($0) }
        return true
    }

    /// Ends the caller's turn.
    package func leave(_ topic: Topic) {
        if self.waiting[topic]?.isEmpty ?? true {
            self.waiting[topic] = nil
        } else {
            self.waiting[topic]?.removeFirst().resume()
        }
    }
}
