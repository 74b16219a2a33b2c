package import PushSupport

/// The requests that add and change a webhook, and send its events again.
package enum WebhookRequest {
    package static let events = Member.set("events", of: WebhookRecord.Event.self, maximum: 32)
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
}
