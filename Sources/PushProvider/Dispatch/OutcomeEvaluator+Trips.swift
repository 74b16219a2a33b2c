import PushSender
import PushStore
import PushTypes

extension ConnectionRecord {
    init(_ connection: OpenedConnection) {
        self.init(
            service: connection.service,
            address: connection.address,
            localPort: connection.localPort,
            openedAt: connection.openedAt
        )
    }
}

extension DeliveryTrip {
    /// The way of a push of a batch.
    /// - Parameter first: The index of the batch's first connection among those of the page.
    init(_ trip: PushTrip, after first: Int32) {
        let connection = trip.connection < 0 ? -1 : trip.connection + first
        self.init(connection: connection, milliseconds: trip.milliseconds)
    }
}

extension PreparedNotification {
    /// Appends a final state to the events for webhooks.
    func append(_ delivery: DeliveryResult, of recipient: Recipient?, to events: inout WebhookEvents) {
        events.append(
            delivery,
            apnsID: self.decoded.ids.text(recipient: delivery.recipient),
            to: recipient,
            notification: self.record.id
        )
    }
}

extension Recipient {
    /// The final state if there is no other try.
    var failure: DeliveryRecord.State { .failed.ending(mayHaveArrived: self.mayHaveArrived) }
}

extension PushEnvironment {
    var other: PushEnvironment {
        switch self {
        case .production: .sandbox
        case .sandbox: .production
        }
    }
}
