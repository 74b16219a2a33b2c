import Foundation
import PushStore

/// Which webhook posts next: one turn at a time for each, those that waited longest first, and failing receivers only on
/// a part of the places, so that slow ones do not hold up others.
struct WebhookTurns {
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
        if let id = Self.take(&self.waiting, except: self.running) {
            return self.begin(id, isFailing: false)
        }
        guard self.running.values.count(where: { $0 }) < self.inFlightFailing,
            let id = Self.take(&self.waitingFailing, except: self.running)
        else { return nil }
        return self.begin(id, isFailing: true)
    }

    mutating func ended(_ id: UUID) {
        self.running[id] = nil
    }

    private mutating func begin(_ id: UUID, isFailing: Bool) -> UUID {
        self.offered.remove(id)
        self.running[id] = isFailing
        return id
    }

    private static func take(_ queue: inout [UUID], except running: [UUID: Bool]) -> UUID? {
        guard let index = queue.firstIndex(where: { running[$0] == nil }) else { return nil }
        return queue.remove(at: index)
    }
}
