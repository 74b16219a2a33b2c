import PushHTTP
import PushStore

/// The history of a token or a user in a response; deliveries and token events are each newest first.
struct HistoryResponse: ResponseObject {
    let devices: [DeviceResponse]
    let page: HistoryPage

    private var deliveries: [DeliveryResponse] { self.page.deliveries.map(DeliveryResponse.init) }
    private var events: [TokenEventResponse] { self.page.events.map(TokenEventResponse.init) }

    static let schemaName: String? = "History"
    static let members: [ResponseMember<Self>] = [
        .required("devices", \.devices),
        .required("deliveries", \.deliveries),
        .required("tokenEvents", \.events),
        .optional("next", \.page.next?.text, "The cursor of the next page, if either list continues."),
    ]
}
