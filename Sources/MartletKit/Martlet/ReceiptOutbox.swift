import Foundation

/// A state machine that decides which receipts are kept, and which are sent next.
struct ReceiptOutbox: Equatable, Sendable {
    /// The maximum number of receipts that wait to be sent, and likewise of sent receipts that are remembered. If more
    /// receipts wait, those of the lowest ``ReportedEvent/rank`` are dropped first.
    static let maximum = 1000
    /// The age after which the provider refuses a receipt, in seconds. An older receipt is dropped without being sent.
    static let lifetime: TimeInterval = 30 * 24 * 3600
    /// The maximum number of receipts in a request, and the maximum size of its body in bytes.
    static let (batch, batchBytes) = (100, 64_000)

    private(set) var waiting: [String: Receipt] = [:]
    private var sent: [String: Receipt] = [:]
    var backOff = RetryDelay()
    /// The maximum number of receipts in the next request, which is halved after a whole request was refused.
    private var batchSize = Self.batch

    /// The receipts to send in one request, all with the same level of privacy.
    struct Batch: Equatable, Sendable {
        let privacy: ReceiptPrivacy
        let receipts: [Receipt]

        var json: JSONValue {
            .object(["privacy": .string(self.privacy.rawValue), "receipts": .array(self.receipts.map(\.json))])
        }
    }

    /// The changes to apply to the storage, and the events to report to the app.
    struct Changes: Equatable, Sendable {
        var removed: [String] = []
        var sent: [Receipt] = []
        var events: [Martlet.Event] = []
    }

    /// Returns whether no receipt, waiting or sent, has this name.
    func isNew(_ name: String) -> Bool { self.waiting[name] == nil && self.sent[name] == nil }

    func isSent(_ name: String) -> Bool { self.sent[name] != nil }

    /// Returns the strictest level of privacy of a notification's receipts, or `nil` if the outbox contains none.
    func privacy(of notification: UUID) -> ReceiptPrivacy? {
        let known = [self.waiting, self.sent].joined().lazy.filter { $0.value.notification == notification }
        return known.map(\.value.privacy).min()
    }

    /// Adds a receipt that this process or another has stored.
    mutating func load(_ stored: StoredReceipt) {
        let name = stored.receipt.name
        if stored.isSent {
            self.waiting[name] = nil
            self.sent[name] = stored.receipt
        } else if self.sent[name] == nil {
            self.waiting[name] = stored.receipt
        }
    }

    /// Drops the receipts whose names are no longer in the storage, because another process has removed them.
    mutating func retain(_ names: Set<String>) {
        self.waiting = self.waiting.filter { names.contains($0.key) }
        self.sent = self.sent.filter { names.contains($0.key) }
    }

    /// Removes receipts that are too old, exceed ``maximum``, or are no longer allowed by the user, and returns the
    /// changes to apply.
    mutating func prune(privacy: ReceiptPrivacy, now: Date) -> Changes {
        var changes = Changes()
        func drop(_ names: [String], reason: String) {
            guard !names.isEmpty else { return }
            for name in names { self.waiting[name] = nil }
            changes.removed += names
            changes.events.append(.receiptsDropped(count: names.count, reason: reason))
        }
        if privacy == .none { drop(Array(self.waiting.keys), reason: "the user allows none") }
        let end = now.addingTimeInterval(-Self.lifetime)
        drop(self.waiting.filter { $0.value.at < end }.map(\.key), reason: "they are more than 30 days old")
        let excess = self.waiting.count - Self.maximum
        if excess > 0 {
            // The event of the lowest rank goes first, and of one rank the oldest.
            let order = self.waiting.sorted {
                ($0.value.event.rank, $0.value.at, $0.key) < ($1.value.event.rank, $1.value.at, $1.key)
            }
            drop(order.prefix(excess).map(\.key), reason: "more than \(Self.maximum) wait")
        }
        let forgotten = self.sent.sorted { ($0.value.at, $0.key) > ($1.value.at, $1.key) }
            .enumerated().filter { $0.offset >= Self.maximum || $0.element.value.at < end }.map(\.element.key)
        for name in forgotten { self.sent[name] = nil }
        changes.removed += forgotten
        return changes
    }

    /// Removes all receipts, resets the back-off, and returns the changes to apply.
    mutating func removeAll() -> Changes {
        let names = [self.waiting, self.sent].joined().map(\.key)
        (self.waiting, self.sent, self.backOff) = ([:], [:], RetryDelay())
        return Changes(removed: names)
    }

    enum Next: Equatable, Sendable {
        case nothing
        case wait(until: Date)
        case send(Batch)
    }

    /// Returns the next step: a batch to send, the time at which the back-off ends, or nothing. A batch contains the
    /// oldest receipts that have the same level of privacy.
    func next(privacy: ReceiptPrivacy, now: Date) -> Next {
        guard privacy != .none else { return .nothing }
        let order = self.waiting.values.sorted { ($0.at, $0.name) < ($1.at, $1.name) }
        guard let first = order.first else { return .nothing }
        if let until = self.backOff.wait(now: now) { return .wait(until: until) }
        let level = min(first.privacy, privacy)
        let receipts = order.lazy.filter { min($0.privacy, privacy) == level }.prefix(self.batchSize)
        var batch = Batch(privacy: level, receipts: Array(receipts))
        while batch.receipts.count > 1, batch.json.json.count > Self.batchBytes {
            batch = Batch(privacy: level, receipts: Array(batch.receipts.prefix(batch.receipts.count / 2)))
        }
        return .send(batch)
    }

    /// Processes the response to a batch. A batch that failed is sent again later, and one that was refused for its
    /// content is sent again in parts.
    mutating func completed(_ batch: Batch, _ response: ProviderResult, now: Date, random: Double) -> Changes {
        switch response {
        case .done(let members):
            // Receipts must not be lost to a login page that stands in the provider's place.
            guard members["accepted"]?.integer != nil else {
                let wait = self.backOff.failed(after: nil, now: now, random: random)
                return Changes(events: [.retry(.receipts, after: wait, reason: "the response counts no receipts")])
            }
            self.backOff.succeeded()
            self.batchSize = min(Self.batch, self.batchSize * 2)
            // A receipt that was removed meanwhile, as by unregistering, does not come back.
            let sent = batch.receipts.filter { self.waiting.removeValue(forKey: $0.name) != nil }
            for receipt in sent { self.sent[receipt.name] = receipt }
            var events = [Martlet.Event.receiptsSent(count: batch.receipts.count)]
            for code in Set((members["refused"]?.array ?? []).compactMap { $0.object?["code"]?.string }).sorted() {
                events.append(
                    .refused(member: "receipts", code: code, message: "the provider does not count a receipt")
                )
            }
            return Changes(sent: sent, events: events)
        case .later(let after, let reason):
            let wait = self.backOff.failed(after: after, now: now, random: random)
            return Changes(events: [.retry(.receipts, after: wait, reason: reason)])
        case .refused(let refusal)
        where refusal.field?.hasPrefix("receipts") == true || refusal.code == ProviderRefusal.tooLarge:
            // One receipt can cause the whole batch to be refused: they are sent in smaller batches, down to that one.
            if batch.receipts.count > 1 {
                self.batchSize = batch.receipts.count / 2
                return Changes()
            }
            self.batchSize = Self.batch
            let names = batch.receipts.map(\.name)
            for name in names { self.waiting[name] = nil }
            let event = Martlet.Event.refused(member: refusal.field, code: refusal.code, message: refusal.message)
            return Changes(removed: names, events: [event, .receiptsDropped(count: names.count, reason: refusal.code)])
        case .refused(let refusal):
            // The key, the app or the provider's version is wrong. Receipts live long enough to wait for a correction.
            if refusal.code == ProviderRefusal.notOwnInstallation {
                _ = self.backOff.failed(after: nil, now: now, random: random)
            } else {
                self.backOff.pause(for: RegistrationStateMachine.pause, now: now)
            }
            return Changes(events: [.refused(member: nil, code: refusal.code, message: refusal.message)])
        }
    }

    /// Records a launch of the app, which ends the back-off unless the provider requested it or a retry cannot help.
    mutating func launched() { self.backOff.launched() }
}

extension ReportedEvent {
    /// The rank of the event. If there are too many receipts, those with events of the lowest rank are dropped first.
    var rank: Int {
        switch self {
        case .delivered: 0
        case .shown: 1
        case .dismissed: 2
        case .opened: 3
        case .action: 4
        case .converted: 5
        }
    }
}
