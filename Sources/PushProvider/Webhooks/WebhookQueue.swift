import Foundation
import PushStore

/// Which webhook posts next: one turn at a time for each, those that waited longest first. Failing receivers have only a
/// part of the places, so that slow ones do not hold up others, but one if there is more than one, so that they come
/// back even when all others are busy.
struct WebhookQueue {
    private let inFlight: Int
    private let inFlightFailing: Int
    /// Those with a turn, and whether their last post had failed before it.
    private var running: [UUID: Bool] = [:]
    private var waiting: [UUID] = []
    private var waitingFailing: [UUID] = []
    private var offered: Set<UUID> = []

    init(limits: WebhookLimits) {
        self.inFlight = max(1, limits.inFlight)
        self.inFlightFailing = max(1, limits.inFlightFailing)
    }

    /// There may be something to tell a webhook that is due. If it has its turn, it gets another one afterwards.
    mutating func offer(_ id: UUID, isFailing: Bool) {
        guard self.offered.insert(id).inserted else { return }
        if isFailing { self.waitingFailing.append(id) } else { self.waiting.append(id) }
    }

    /// The next turn, which has begun with this; `nil` if all places are taken or nobody waits.
    mutating func next() -> UUID? {
        guard self.running.count < self.inFlight else { return nil }
        let failing = self.running.values.count { $0 }
        if failing == 0, !self.running.isEmpty, let id = self.take(failing: true) { return id }
        if let id = self.take(failing: false) { return id }
        return failing < self.inFlightFailing ? self.take(failing: true) : nil
    }

    mutating func ended(_ id: UUID) {
        self.running[id] = nil
    }

    private mutating func take(failing: Bool) -> UUID? {
        let queue = failing ? self.waitingFailing : self.waiting
        guard let index = queue.firstIndex(where: { self.running[$0] == nil }) else { return nil }
        let id = failing ? self.waitingFailing.remove(at: index) : self.waiting.remove(at: index)
        self.offered.remove(id)
        self.running[id] = failing
        return id
    }
}
