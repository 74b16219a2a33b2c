public import Foundation

extension Martlet {
    /// Handles a notification in whichever way it arrived: decrypts it, calls the app's handler, and creates receipts.
    ///
    /// After an arrival for which the system gives little time, the call returns when the receipts were sent or sending
    /// has failed, but at the latest after ``Configuration/receiveTimeout``, which includes the time of the handler.
    /// Cancelling the task ends the wait immediately. Receipts that are not sent are kept.
    /// - Returns: The values to return to the system.
    public func receive(_ notification: ReceivedNotification, _ arrival: Arrival) async -> Reception {
        let end = ContinuousClock.now + self.configuration.sendingTime
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
            await self.synchronize(within: ContinuousClock.now.duration(to: end))
        case .background:
            result = await self.handler?.fetch(for: notification) ?? .noData
            await self.synchronize(within: ContinuousClock.now.duration(to: end))
        case .dismissed, .serviceExtension: await self.synchronize(within: ContinuousClock.now.duration(to: end))
        }
        return Reception(notification: notification, presentation: presentation, fetchResult: result)
    }

    /// Returns a notification with decrypted content. If it cannot be decrypted, reports the failure and returns the
    /// placeholder.
    private func opened(_ notification: ReceivedNotification) -> ReceivedNotification {
        guard notification.sealed != nil else { return notification }
        #if Encryption
        let opened = EncryptionKeys(storage: self.storage).open(notification, app: self.configuration.app)
        if let failure = opened.failure { self.report(.contentNotOpened(reason: failure.description)) }
        return opened.notification
        #else
        self.report(.contentNotOpened(reason: "the app was built without the trait Encryption"))
        return notification
        #endif
    }

    /// Records a conversion: the user did what a notification was sent for, such as a purchase. A conversion can be
    /// recorded several times.
    /// - Parameters:
    ///   - notification: The id of a notification that this installation has received in the last 30 days. For any
    ///     other id, nothing is recorded.
    ///   - name: A name for the conversion, at most 64 bytes, or `nil` for none.
    /// - Throws: ``UsageError`` for a name that is empty or longer.
    public func recordConversion(of notification: UUID, name: String? = nil) throws(UsageError) {
        guard name.map({ Self.isAction($0) }) ?? true else {
            throw .invalidArgument(name: "name", reason: "use 1 to \(Receipt.maximumAction) bytes")
        }
        self.loadOutbox()
        let known = self.unstored.lazy.filter { $0.notification == notification }.map(\.privacy).min()
        guard let privacy = self.outbox.privacy(of: notification) ?? known else { return }
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

    private func record(_ notification: UUID, _ event: ReportedEvent, action: String?, privacy: ReceiptPrivacy) {
        if let action, !Self.isAction(action) {
            let message = "an action has 1 to \(Receipt.maximumAction) bytes"
            return self.report(.refused(member: "action", code: "invalid_value", message: message))
        }
        let receipt = Receipt(
            id: self.dependencies.uuid(),
            notification: notification,
            event: event,
            action: action,
            at: self.dependencies.now(),
            privacy: privacy
        )
        // The level that the user allows is not known before the storage can be read, and is applied then.
        guard let allowed = self.state()?.state.receiptPrivacy else { return self.keep(receipt) }
        guard let receipt = receipt.bounded(by: allowed), self.outbox.isNew(receipt.name) else { return }
        do {
            // Another process may have made the receipt.
            guard try self.storage.insert(StoredReceipt(receipt).data, for: receipt.name) else { return }
        } catch {
            self.keep(receipt)
            self.report(.storageFailed(reason: "\(error)"))
        }
        self.outbox.load(StoredReceipt(receipt))
        self.apply(self.outbox.prune(privacy: allowed, now: receipt.at))
    }

    /// Returns whether the name of an action or a conversion has a permitted length.
    private static func isAction(_ name: String) -> Bool { (1...Receipt.maximumAction).contains(name.utf8.count) }

    /// Keeps a receipt in memory until the storage accepts it, unless too many are waiting.
    private func keep(_ receipt: Receipt) {
        guard self.unstored.count < ReceiptOutbox.maximum, !self.unstored.contains(where: { $0.name == receipt.name })
        else { return }
        self.unstored.append(receipt)
    }

    /// Stores the receipts that wait in memory, loads those that another process has stored, and drops those that it
    /// has removed.
    func loadOutbox() {
        do {
            if !self.unstored.isEmpty, let allowed = self.state()?.state.receiptPrivacy {
                while let receipt = self.unstored.last {
                    if let receipt = receipt.bounded(by: allowed) {
                        _ = try self.storage.insert(StoredReceipt(receipt).data, for: receipt.name)
                    }
                    self.unstored.removeLast()
                }
            }
            let names = try self.storage.names().filter { $0.hasPrefix(Receipt.prefix) }
            self.outbox.retain(Set(names))
            // A receipt that waits here may have been sent by the other process.
            for name in names where !self.outbox.isSent(name) {
                guard let data = try self.storage.read(name) else { continue }
                if let stored = StoredReceipt(data, name: name) {
                    self.outbox.load(stored)
                } else {
                    try self.storage.remove(name)
                }
            }
            if self.isBackOffStored { self.outbox.backOff = try self.storedBackOff() }
        } catch {
            self.report(.storageFailed(reason: "\(error)"))
        }
    }

    func apply(_ changes: ReceiptOutbox.Changes) {
        do {
            for name in changes.removed { try self.storage.remove(name) }
            for receipt in changes.sent {
                try self.storage.write(StoredReceipt(receipt, isSent: true).data, for: receipt.name)
            }
        } catch {
            self.report(.storageFailed(reason: "\(error)"))
        }
        for event in changes.events { self.report(event) }
    }

    func removeReceipts() {
        self.unstored = []
        self.loadOutbox()
        self.apply(self.outbox.removeAll())
        self.storeBackOff()
    }
}

// MARK: - The back-off of receipts

extension Martlet {
    /// The name under which the back-off is stored. The app and its extension share the back-off, because each push
    /// starts a new process of the extension.
    private static let backOffName = "outbox"

    private func storedBackOff() throws -> RetryDelay {
        let data = try self.storage.read(Self.backOffName)
        return data.flatMap { try? JSONDecoder().decode(RetryDelay.self, from: $0) } ?? RetryDelay()
    }

    func storeBackOff() {
        do {
            let backOff = self.outbox.backOff
            self.isBackOffStored = false
            if try self.storedBackOff() != backOff {
                if backOff == RetryDelay() {
                    try self.storage.remove(Self.backOffName)
                } else {
                    try self.storage.write(JSONEncoder().encode(backOff), for: Self.backOffName)
                }
            }
            self.isBackOffStored = true
        } catch {
            self.report(.storageFailed(reason: "\(error)"))
        }
    }
}

extension Arrival {
    /// Returns the events to report in receipts after an arrival, in chronological order.
    ///
    /// An opened notification was delivered and shown too, so that a later event implies the earlier ones.
    /// - Parameters:
    ///   - isVisible: Pass `true` for a notification with an alert.
    ///   - presentation: The presentation in the foreground.
    ///   - capabilities: The presentations that the user allows, or `nil` if they are not known.
    fileprivate func receipts(
        isVisible: Bool,
        presentation: Presentation,
        capabilities: Capabilities?
    ) -> [(event: ReportedEvent, action: String?)] {
        switch self {
        case .background: [(.delivered, nil)]
        case .foreground:
            isVisible && !presentation.isDisjoint(with: [.banner, .list])
                ? [(.delivered, nil), (.shown, nil)] : [(.delivered, nil)]
        case .serviceExtension:
            isVisible && capabilities?.contains(.alert) == true
                ? [(.delivered, nil), (.shown, nil)] : [(.delivered, nil)]
        case .launch, .opened: [(.delivered, nil), (.shown, nil), (.opened, nil)]
        case .dismissed: [(.delivered, nil), (.shown, nil), (.dismissed, nil)]
        case .action(let id, _): [(.delivered, nil), (.shown, nil), (.action, id)]
        }
    }
}
