import PushSupport
import WebPages

/// The state of something as a word with a shape and a colour, for the class `state`.
enum StateLabel {
    /// Returns the variables `kind` and `text` of a state of the API, which are the same in all lists.
    static func model(_ state: String, _ texts: LocalizedTexts) -> PageModel {
        ["kind": Self.kinds[state] ?? "wait", "text": texts.text("states.\(state)") ?? state]
    }

    private static let kinds = [
        // Deliveries.
        "accepted": "good", "rejected": "bad", "failed": "bad", "skipped": "wait", "unknown": "warn", "sending": "run",
        "pending": "wait",
        // Notifications; `accepted` of a notification is shown as `due`.
        "due": "wait", "scheduled": "wait", "paused": "warn", "cancelled": "bad", "done": "good",
        // Environments, devices, webhooks, breakers, people.
        "running": "good", "failing": "warn", "active": "good", "inactive": "bad", "disabled": "bad", "open": "bad",
        "closed": "good", "invited": "wait",
        // Issues.
        "draft": "wait", "published": "good", "withdrawn": "warn",
        // Events of tokens.
        "reactivated": "good", "replaced": "wait", "deactivated": "bad", "withheld": "warn", "settled": "wait",
        "deleted": "wait",
    ]
}
