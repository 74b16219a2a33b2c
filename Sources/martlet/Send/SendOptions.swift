import ArgumentParser
import PushSupport

/// The options that name the recipients of a notification.
struct TargetOptions: ParsableArguments {
    @Option(help: "A device token, hex or base64; repeat it for several.") var token: [String] = []
    @Option(help: "All devices of a user.") var user: String?
    @Option(help: "All devices with a tag.") var tag: String?
    @Flag(help: "All devices of the app.") var all = false

    /// The number of options that were given; repeated tokens count as one.
    var count: Int {
        [!self.token.isEmpty, self.user != nil, self.tag != nil, self.all].count { $0 }
    }

    /// The member `to` of the request; `nil` where the options name no recipients.
    var json: JSONValue? {
        if let tokens = JSONValue.texts(self.token) { return ["tokens": tokens] }
        if let user { return ["user": user.json] }
        if let tag { return ["tag": tag.json] }
        return self.all ? ["all": true] : nil
    }
}

/// The options that make the content of a notification.
struct ContentOptions: ParsableArguments {
    @Option(help: "Title of the alert.") var title: String?
    @Option(help: "Subtitle of the alert.") var subtitle: String?
    @Option(help: "Text of the alert.") var body: String?
    @Option(parsing: .unconditional, help: "Number on the app's icon; 0 removes it.") var badge: Int?
    @Option(help: "Sound file in the app, or 'default'.") var sound: String?
    @Option(help: "A file with the whole payload in JSON, instead of the above; '-' is standard input.")
    var payload: String?
    @Option(help: "apns-push-type, such as alert or background.") var pushType: String?
    @Option(parsing: .unconditional, help: "apns-priority: 10, 5 or 1.") var priority: Int?
    @Option(parsing: .unconditional, help: "apns-expiration: UNIX seconds, 0 for one attempt.") var expiration: Int?
    @Option(help: "How long it is worth delivering, such as 6h, instead of --expiration.")
    var expiresIn: String?
    @Option(help: "A name by which to find the notification.") var name: String?
    @Option(help: "apns-collapse-id: a later notification with the same one replaces this one.") var collapseID: String?
    @Option(help: "none, counts or device: the most detailed receipts that apps may send. Default: the app's setting.")
    var receipts: String?
    @Option(help: "sandbox or production. Default: the devices of both.") var environment: String?

    @Option(help: "A consent category: people who have opted out of it are skipped.") var consentCategory: String?
    @Flag(help: "Encrypt the content to the key of each installation; those without one are skipped.")
    var encrypted = false

    /// The members for what the user sees and hears of the notification.
    private var presentation: [String: JSONValue?] {
        let alert = ["title": self.title?.json, "subtitle": self.subtitle?.json, "body": self.body?.json]
        return [
            "alert": alert.values.contains { $0 != nil } ? .members(alert) : nil, "badge": self.badge?.json,
            "sound": self.sound?.json,
        ]
    }

    /// Returns the members of a request to a provider, apart from `to`.
    func members() throws -> [String: JSONValue?] {
        let other: [String: JSONValue?] = [
            "payload": try self.payload.map { .object(try InputFile.object($0, for: "--payload")) },
            "pushType": self.pushType?.json, "priority": self.priority?.json, "expiration": self.expiration?.json,
            "expiresIn": self.expiresIn?.json, "name": self.name?.json, "collapseId": self.collapseID?.json,
            "environment": self.environment?.json, "receipts": self.receipts?.json,
            "consentCategory": self.consentCategory?.json, "encrypted": self.encrypted ? true : nil,
        ]
        return self.presentation.merging(other) { $1 }
    }

    /// Returns the `aps` dictionary of a payload; `nil` if it would be empty.
    func aps(isBackground: Bool) -> JSONValue? {
        let aps = self.presentation.merging(["content-available": isBackground ? .integer(1) : nil]) { $1 }
        return aps.values.contains { $0 != nil } ? .members(aps) : nil
    }
}
