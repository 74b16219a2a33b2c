import Foundation
import PushStore

/// Decides the order in which webhooks post: round robin, one run at a time for each.
///
/// Failing receivers have only a part of the slots, so that slow ones do not hold up others. They have one slot if there is
/// more than one, so that they recover even when all others are busy.
struct WebhookQueue {
    private let inFlight, inFlightFailing: Int
    /// The webhooks whose run is in progress; `true` for those whose last post had failed.
    private var running: [UUID: Bool] = [:]
    private var waiting: [UUID] = []
    private var waitingFailing: [UUID] = []
    private var queued: Set<UUID> = []

    init(limits: WebhookLimits) {
        self.inFlight = max(1, limits.inFlight)
        self.inFlightFailing = max(1, limits.inFlightFailing)
    }

    /// Adds a webhook that is due. One whose run is in progress gets another one afterwards.
    mutating func enqueue(_ id: UUID, isFailing: Bool) {
        guard self.queued.insert(id).inserted else { return }
        if isFailing { self.waitingFailing.append(id) } else { self.waiting.append(id) }
    }

    /// Starts the run of the next webhook; `nil` if no slot is free or no webhook waits.
    mutating func next() -> UUID? {
        guard self.running.count < self.inFlight else { return nil }
        let failing = self.running.values.count { $0 }
        if failing == 0, !self.running.isEmpty, let id = self.take(failing: true) { return id }
        if let id = self.take(failing: false) { return id }
        return failing < self.inFlightFailing ? self.take(failing: true) : nil
    }

    /// Ends the run of a webhook.
    mutating func finish(_ id: UUID) { self.running[id] = nil }

    private mutating func take(failing: Bool) -> UUID? {
        let queue = failing ? self.waitingFailing : self.waiting
        guard let index = queue.firstIndex(where: { self.running[$0] == nil }) else { return nil }
        let id = failing ? self.waitingFailing.remove(at: index) : self.waiting.remove(at: index)
        self.queued.remove(id)
        self.running[id] = failing
        return id
    }
}
