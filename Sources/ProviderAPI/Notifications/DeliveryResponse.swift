package import PushHTTP
import PushProvider
package import PushStore
import PushSupport
import PushTypes

/// A delivery in a response: the state of one recipient.
package struct DeliveryResponse: ResponseObject {
    package let delivery: DeliveryRecord

    package var apnsID: String {
        DeliveryID(notification: self.delivery.notification).text(recipient: self.delivery.recipient)
    }

    /// The receipts; `nil` if there are none.
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
