package import PushSupport
package import PushTypes

/// The requests that add and change a webhook, and send its events again.
package enum WebhookRequest {
    private typealias Event = WebhookRecord.Event

    private static let events = Member.texts(
        "events",
        1...Event.allCases.count,
        maximum: 32,
        as: .choice(of: Event.self)
    )
    package static let active = Member.bool("active")
    package static let (since, block) = (Member.time("since"), Member.integer("block", 1...Int64.max))

    package static let addition = RequestObject(required: [Member.url], optional: [Self.events]) {
        $0.example(.texts(["url": "https://hooks.example.com/push"]))
    }
    package static let change = RequestObject(optional: [Member.url, Self.events, Self.active])
    package static let replay = RequestObject(optional: [Self.since, Self.block]) {
        $0.requiringOne(of: "since", "block")
            .described("One of both: a time, or the first number in the id of a post.")
    }

    /// Returns the kinds of events that a request body names; `nil` if it names none.
    package static func events(_ fields: JSONFields) throws(RequestError) -> Set<WebhookRecord.Event>? {
        guard let names = try fields.value(Self.events) else { return nil }
        let events = Set(names.compactMap(WebhookRecord.Event.init(rawValue:)))
        guard !events.isEmpty, events.count == Set(names).count else {
            throw fields.error(
                "events",
                "invalid_value",
                "name one or more of \(Event.allCases.map(\.rawValue).joined(separator: ", "))"
            )
        }
        return events
    }
}
