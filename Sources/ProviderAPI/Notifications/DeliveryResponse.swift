import PushHTTP
import PushProvider
import PushStore
import PushTypes

/// A delivery in a response: the state of one recipient.
struct DeliveryResponse: ResponseObject {
    let delivery: DeliveryRecord

    private var apnsID: String {
        DeliveryID(notification: self.delivery.notification).text(recipient: self.delivery.recipient)
    }

    static let states = DeliveryRecord.State.allCases.map(\.word)

    static let schemaName: String? = "Delivery"
    static let members: [ResponseMember<Self>] = [
        .required("notification", \.delivery.notification),
        .optional("deviceId", \.delivery.device, "Absent for a token that is not registered."),
        .optional("token", \.delivery.token?.description, "The first bytes."),
        .optional("environment", \.delivery.environment),
        .required("state", \.delivery.state.word, as: .choice(Self.states)),
        .required("apnsId", \.apnsID, as: .uuid),
        .optional("reason", \.delivery.reason, "The reason of the push service, or of the provider."),
        .required("attempts", \.delivery.attempts),
        .required("atMs", \.delivery.at),
    ]
}
