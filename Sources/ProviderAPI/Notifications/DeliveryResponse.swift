package import ProviderModel
package import PushHTTP
import PushProvider
import PushSupport
import PushTypes

/// The response object for a delivery: the state of one recipient of a notification.
package struct DeliveryResponse: ResponseObject {
    package let delivery: DeliveryRecord

    package var apnsID: String {
        DeliveryID(notification: self.delivery.notification).text(recipient: self.delivery.recipient)
    }

    /// The receipts that the device has submitted for the notification, or `nil` if there are none.
    private var receipts: [ReceiptResponse]? {
        self.delivery.receipts.isEmpty ? nil : self.delivery.receipts.map { ReceiptResponse(receipt: $0) }
    }

    static let states = DeliveryRecord.State.allCases.map(\.word)

    package static let schemaName: String? = "Delivery"
    package static let members: [ResponseMember<Self>] = [
        .required("notification", \.delivery.notification),
        .optional("deviceId", \.delivery.device, "Absent for a token that is not registered."),
        .optional("token", \.delivery.token?.description, "The first bytes."),
        .optional("environment", \.delivery.environment),
        .required("state", \.delivery.state.word, as: .choice(Self.states)),
        .required("apnsId", \.apnsID, as: .uuid),
        .optional("reason", \.delivery.reason, "The reason of the push service, or of the provider."),
        .required("attempts", \.delivery.attempts),
        .required("atMs", \.delivery.at),
        .optional("receipts", \.receipts, "What the app and the gateway report, the earliest first."),
    ]
}

/// The response object for one recipient's outcome, in the response to a request that sends a notification and waits.
package struct OutcomeResponse: ResponseObject {
    /// The device token, if the request named tokens, or `nil` for a device that an audience selected.
    let token: DeviceToken?
    let device: Int64?
    let environment: PushEnvironment?
    /// The delivery with its final state, or `nil` while the recipient is pending.
    let delivery: DeliveryRecord?
    package let apnsID: String

    private static let pending = "pending"
    private var state: String { self.delivery?.state.word ?? Self.pending }
    private static let states = DeliveryRecord.State.allCases.filter { $0 != .sending }.map(\.word) + [pending]

    package static let schemaName: String? = "Outcome"
    package static let members: [ResponseMember<Self>] = [
        .optional("token", \.token?.hex, "The token that the request named."),
        .optional("deviceId", \.device),
        .optional("environment", \.environment),
        .required("state", \.state, as: .choice(Self.states), "pending: it has no final state yet."),
        .optional("reason", \.delivery?.reason),
        .required("apnsId", \.apnsID, as: .uuid),
        .optional("attempts", \.delivery?.attempts),
        .optional("atMs", \.delivery?.at),
    ]
}

/// The outcomes of all recipients of a small notification.
struct OutcomeList {
    let outcomes: [OutcomeResponse]
    let pending: Int

    /// Creates the list from a notification's deliveries and devices. A recipient whose delivery is missing or is still
    /// being sent is pending.
    init(_ found: NotificationOutcomes) {
        let (notification, devices) = (found.notification, found.devices)
        let ids = DeliveryID(notification: notification.id)
        let final = found.deliveries.filter { $0.state != .sending }
        var outcomes: [OutcomeResponse] = []
        if case .tokens = notification.audience {
            let known = Dictionary(final.map { ($0.recipient, $0) }) { $1 }
            for (recipient, token) in notification.namedRecipients {
                let delivery = known[recipient]
                outcomes.append(
                    OutcomeResponse(
                        token: token,
                        device: delivery?.device,
                        environment: notification.environment ?? .production,
                        delivery: delivery,
                        apnsID: ids.text(recipient: recipient)
                    )
                )
            }
        } else {
            let others = devices.filter { device in device.isActive && !final.contains { $0.recipient == device.id } }
            for delivery in final {
                let id = ids.text(recipient: delivery.recipient)
                outcomes.append(
                    OutcomeResponse(
                        token: nil,
                        device: delivery.device,
                        environment: delivery.environment,
                        delivery: delivery,
                        apnsID: id
                    )
                )
            }
            for device in others where !notification.hasEnded {
                outcomes.append(
                    OutcomeResponse(
                        token: nil,
                        device: device.id,
                        environment: device.environment,
                        delivery: nil,
                        apnsID: ids.text(recipient: device.id)
                    )
                )
            }
        }
        self.outcomes = outcomes
        self.pending = outcomes.count { $0.delivery == nil }
    }
}
