import ArgumentParser
import Foundation

/// To whom a notification goes.
struct AudienceOptions: ParsableArguments {
    @Option(help: "A device token, hex or base64; repeat it for several.")
    var token: [String] = []

    @Option(help: "All devices of a user.")
    var user: String?

    @Option(help: "All devices with a tag.")
    var tag: String?

    @Flag(help: "All devices of the app.")
    var all = false

    /// The member `to` of the request.
    var value: [String: Any] {
        if !self.token.isEmpty { return ["tokens": self.token] }
        if let user { return ["user": user] }
        if let tag { return ["tag": tag] }
        return ["all": true]
    }
}

/// What a notification says.
struct ContentOptions: ParsableArguments {
    @Option(help: "Title of the alert.")
    var title: String?

    @Option(help: "Subtitle of the alert.")
    var subtitle: String?

    @Option(help: "Text of the alert.")
    var body: String?

    @Option(help: "Number on the app's icon; 0 removes it.")
    var badge: Int?

    @Option(help: "Sound file in the app, or 'default'.")
    var sound: String?

    @Option(help: "A file with the whole payload in JSON, instead of the above; '-' is standard input.")
    var payload: String?

    @Option(help: "apns-push-type, such as alert or background.")
    var pushType: String?

    @Option(help: "apns-priority: 10, 5 or 1.")
    var priority: Int?

    @Option(help: "apns-expiration: UNIX seconds, 0 for one attempt.")
    var expiration: Int?

    @Option(help: "apns-collapse-id: a later notification with the same one replaces this one.")
    var collapseID: String?

    @Option(help: "sandbox or production; default: the devices of both.")
    var environment: String?

    /// The members of the request, apart from `to`.
    func members() throws -> [String: Any] {
        var alert: [String: Any] = [:]
        alert["title"] = self.title
        alert["subtitle"] = self.subtitle
        alert["body"] = self.body
        var members: [String: Any] = [:]
        members["alert"] = alert.isEmpty ? nil : alert
        members["badge"] = self.badge
        members["sound"] = self.sound
        members["payload"] = try self.payload.map(Self.object)
        members["pushType"] = self.pushType
        members["priority"] = self.priority
        members["expiration"] = self.expiration
        members["collapseId"] = self.collapseID
        members["environment"] = self.environment
        return members
    }

    private static func object(inFile path: String) throws -> [String: Any] {
        let data = try self.bytes(ofFile: path)
        guard let object = try? JSONSerialization.jsonObject(with: data) as? [String: Any] else {
            throw ValidationError("The payload must be a JSON object.")
        }
        return object
    }
}
