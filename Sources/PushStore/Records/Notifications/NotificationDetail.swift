/// A notification and the counts beside it, all of one moment.
package struct NotificationDetail: Hashable, Sendable {
    package var notification: NotificationRecord
    /// The numbers of skipped recipients for each reason, as ``NotificationStore/skipCounts(of:)``.
    package var skipCounts: [SkipCount] = []
    /// The numbers of receipts, as ``ReceiptStore/receiptCounts(of:)``; empty if it asks for none.
    package var receiptCounts: [ReceiptCount] = []

    package init(_ notification: NotificationRecord) { self.notification = notification }
}

/// A notification with few recipients and the states of these, all of one moment.
package struct NotificationOutcomes: Hashable, Sendable {
    package var notification: NotificationRecord
    /// The states of the recipients that have one.
    package var deliveries: [DeliveryRecord] = []
    /// The devices of the audience while it is in progress; empty for other audiences.
    package var devices: [DeviceRecord] = []

    package init(_ notification: NotificationRecord) { self.notification = notification }
}

extension NotificationRecord {
    /// Indicates whether no recipient changes its state any more.
    package var hasEnded: Bool { self.state == .done || self.state == .cancelled && self.progress.retrying == 0 }
}
