public import Foundation

extension Martlet {
    /// Takes a notification, in whichever way it came: opens encrypted content, has the app's handler answer it, and makes
    /// its receipts.
    ///
    /// After an arrival that the system gives little time for, it returns when the receipts are sent or have failed, within
    /// seconds; they are not lost then.
    /// - Returns: What the system should hear.
    public func receive(_ notification: ReceivedNotification, _ arrival: Arrival) async -> Reception {
        let notification = self.opened(notification)
        var presentation: Presentation = []
        var result = FetchResult.noData
        if arrival == .foreground { presentation = await self.handler?.presentation(of: notification) ?? .all }
        self.record(notification, arrival, presentation)
        switch arrival {
        case .foreground: self.sendLater()
        case .launch, .opened:
            self.sendLater()
            await self.handler?.open(notification)
        case .action(let action, let text):
            await self.handler?.perform(action, text: text, of: notification)
            await self.synchronize()
        case .background:
            result = await self.handler?.fetch(for: notification) ?? .noData
            await self.synchronize()
        case .dismissed, .serviceExtension: await self.synchronize()
        }
        return Reception(notification: notification, presentation: presentation, fetchResult: result)
    }

    /// Notes that the user did what a notification was for, such as a purchase. It may happen more than once.
    /// - Parameters:
    ///   - notification: The id of a notification that this installation has received in the last 30 days.
    ///   - name: A name for what was done, at most 64 bytes.
    public func converted(by notification: UUID, name: String? = nil) {
        self.loadOutbox()
        guard let privacy = self.outbox.privacy(of: notification) else { return }
        self.record(notification, .converted, action: name, privacy: privacy)
        self.sendLater()
    }

    private func sendLater() { Task { await self.synchronize() } }
}

// MARK: - Receipts

extension Martlet {
    private func record(_ notification: ReceivedNotification, _ arrival: Arrival, _ presentation: Presentation) {
        guard let id = notification.id, notification.receipts != .none else { return }
        let names = self.state()?.state.wanted["capabilities"]?.array?.compactMap(\.string)
        let capabilities: Capabilities? = names.map { $0.contains("alert") ? [.alert] : [] }
        let receipts = arrival.receipts(
            isVisible: notification.isVisible,
            presentation: presentation,
            capabilities: capabilities
        )
        for (event, action) in receipts {
            self.record(id, event, action: action, privacy: notification.receipts)
        }
    }

    private func record(_ notification: UUID, _ event: ReceiptEvent, action: String?, privacy: ReceiptPrivacy) {
        // Before the storage can be read, what the user allows is not known, and the stricter holds.
        let allowed = self.state()?.state.receiptPrivacy ?? .none
        guard min(allowed, privacy) != .none else { return }
        if event == .action || action != nil, !(1...Receipt.maximumAction).contains(action?.utf8.count ?? 0) {
            let message = "an action has 1 to \(Receipt.maximumAction) bytes"
            return self.report(.refused(member: "action", code: "invalid_value", message: message))
        }
        let receipt = Receipt(
            id: self.surroundings.uuid(),
            notification: notification,
            event: event,
            action: action,
            at: self.surroundings.now(),
            privacy: min(allowed, privacy)
        )
        let stored = StoredReceipt(receipt)
        guard self.outbox.isNew(receipt.name) else { return }
        do {
            // Another process may have made it.
            guard try self.storage.insert(receipt.name, stored.data) else { return }
        } catch {
            if self.unstored.count < ReceiptOutbox.maximum { self.unstored.append(stored) }
            self.report(.storageFailed(why: "\(error)"))
        }
        self.outbox.load(stored)
        self.apply(self.outbox.prune(privacy: allowed, now: receipt.at))
    }

    /// Takes the receipts that another process has stored or removed since.
    func loadOutbox() {
        do {
            while let stored = self.unstored.last {
                _ = try self.storage.insert(stored.receipt.name, stored.data)
                self.unstored.removeLast()
            }
            let names = try self.storage.names().filter { $0.hasPrefix(Receipt.prefix) }
            self.outbox.retain(Set(names))
            // One that waits here may have been sent by the other process.
            for name in names where !self.outbox.isSent(name) {
                guard let data = try self.storage.read(name) else { continue }
                if let stored = StoredReceipt(data, name: name) {
                    self.outbox.load(stored)
                } else {
                    try self.storage.remove(name)
                }
            }
        } catch {
            self.report(.storageFailed(why: "\(error)"))
        }
    }

    /// Stores what has become of receipts.
    func apply(_ changes: ReceiptOutbox.Changes) {
        do {
            for name in changes.removed { try self.storage.remove(name) }
            for receipt in changes.sent {
                try self.storage.write(receipt.name, StoredReceipt(receipt, isSent: true).data)
            }
        } catch {
            self.report(.storageFailed(why: "\(error)"))
        }
        for event in changes.events { self.report(event) }
    }

    /// Removes all receipts.
    func removeReceipts() {
        self.loadOutbox()
        self.apply(self.outbox.removeAll())
    }
}
