import PushHTTP
import PushStore

/// The history of a token or a user in a response; deliveries and token events are each newest first.
struct HistoryResponse: Encodable {
    var devices: [DeviceResponse]
    var deliveries: [DeliveryResponse]
    var tokenEvents: [TokenEventResponse]
    var next: String?

    init(devices: [DeviceResponse], _ page: HistoryPage) {
        self.devices = devices
        self.deliveries = page.deliveries.map(DeliveryResponse.init)
        self.tokenEvents = page.events.map(TokenEventResponse.init)
        self.next = page.next?.text
    }

    static let schema = Schema.object(
        required: [
            "devices": .array(of: DeviceResponse.schema), "deliveries": .array(of: DeliveryResponse.schema),
            "tokenEvents": .array(of: TokenEventResponse.schema),
        ],
        optional: ["next": .string().described("The cursor of the next page, if either list continues.")]
    ).named("History")
}
