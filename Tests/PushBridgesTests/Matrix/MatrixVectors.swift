import Foundation
import PushStore
import PushSupport
import PushTesting
import PushTypes

@testable import PushBridges

/// The vectors of the Matrix Push Gateway API, and an app that they are for.
enum MatrixVectors {
    static let appID = "com.example.MyApp.ios.prod"
    static let tokenA = "MCvTjMFq32yTg+iEi5HYla/MsqWl0dUkNfFMRwqnF2c="
    static let tokenB = "LKAEwVBUh1nkWgws5gXQKL7E+WJopwertHHR3pBWsgM="
    static let path = "/_matrix/push/v1/notify"

    /// An event whose content the homeserver keeps to itself.
    static let eventOnly = """
        {"notification":{"event_id":"$e1","room_id":"!r1:example.org","prio":"high","counts":{"unread":2},"devices":[
         {"app_id":"com.example.MyApp.ios.prod","pushkey":"MCvTjMFq32yTg+iEi5HYla/MsqWl0dUkNfFMRwqnF2c=","pushkey_ts":1700000000,
          "data":{"format":"event_id_only","default_payload":{"aps":{"mutable-content":1,"alert":{"loc-key":"Notification",
          "loc-args":[]}},"pusher_notification_client_identifier":"c1"}}}]}}
        """
    static let eventOnlyPayload: JSONValue = [
        "aps": ["mutable-content": 1, "alert": ["loc-key": "Notification", "loc-args": []]],
        "pusher_notification_client_identifier": "c1", "room_id": "!r1:example.org", "event_id": "$e1",
        "unread_count": 2,
    ]

    /// A message with its content.
    static let full = """
        {"notification":{"id":"$e2","event_id":"$e2","room_id":"!r1:example.org","type":"m.room.message","sender":"@ada:example.org",
         "sender_display_name":"Ada","room_name":"Lab","prio":"low","content":{"msgtype":"m.text","body":"tea?"},
         "counts":{"unread":2,"missed_calls":1},"devices":[{"app_id":"com.example.MyApp.ios.prod",
         "pushkey":"MCvTjMFq32yTg+iEi5HYla/MsqWl0dUkNfFMRwqnF2c=","tweaks":{"sound":"default"}}]}}
        """
    static let fullPayload: JSONValue = [
        "aps": [
            "alert": ["loc-key": "MSG_FROM_USER_IN_ROOM_WITH_CONTENT", "loc-args": ["Ada", "Lab", "tea?"]], "badge": 3,
        ],
        "room_id": "!r1:example.org", "event_id": "$e2",
    ]

    /// A number of unread messages, with the nulls of Synapse.
    static let countOnly = """
        {"notification":{"id":"","type":null,"sender":"","counts":{"unread":0},"devices":[{"app_id":"com.example.MyApp.ios.prod",
         "pushkey":"MCvTjMFq32yTg+iEi5HYla/MsqWl0dUkNfFMRwqnF2c=","pushkey_ts":1700000000,"data":{}}]}}
        """

    /// Returns a notification with these members, for one device with these.
    static func body(_ members: [String: JSONValue], device: [String: JSONValue] = [:]) -> JSONValue {
        let standard: [String: JSONValue] = ["app_id": .string(Self.appID), "pushkey": .string(Self.tokenA)]
        let devices: JSONValue = [.object(standard.merging(device) { $1 })]
        return ["notification": .object(["devices": devices].merging(members) { $1 })]
    }

    static func notification(_ text: String) throws -> MatrixNotification {
        try MatrixNotification(parsing: Array(text.utf8))
    }

    static func notification(_ json: JSONValue) throws -> MatrixNotification {
        try MatrixNotification(parsing: Array(try json.text))
    }

    static func settings(_ json: JSONValue = [:]) throws -> MatrixSettings {
        try MatrixSettings(JSONFields(json, known: MatrixSettings.object.known))
    }

    static func app(
        _ name: String = appID,
        settings: JSONValue = [:],
        environment: PushEnvironment? = .production,
        hasCredential: Bool = true,
        of bundleID: String = Vectors.bundleID,
        id: Int64 = 1
    ) throws -> MatrixApp {
        guard let topic = Topic(bundleID) else { throw StoreError.wrongMasterKey }
        return MatrixApp(
            name: name,
            id: id,
            bundleID: topic,
            environment: environment,
            settings: try Self.settings(settings),
            hasCredential: hasCredential
        )
    }

    /// Returns the plans for the devices of a notification.
    static func plans(
        _ notification: MatrixNotification,
        _ apps: [MatrixApp],
        damaged: Set<String> = [],
        forwardsAddresses: Bool = false
    ) throws -> [MatrixTranslator.Plan] {
        let apps = MatrixAppDirectory(apps, damaged: Dictionary(uniqueKeysWithValues: damaged.map { ($0, 0) }))
        let translator = MatrixTranslator(apps: apps, forwardsAddresses: forwardsAddresses)
        return try notification.devices.map { try translator.plan($0, of: notification, now: Vectors.issuedAt) }
    }

    /// Returns the only push of a notification for the app with these settings; `nil` if there is none.
    static func push(_ notification: MatrixNotification, settings: JSONValue = [:]) throws -> MatrixPush? {
        guard case .push(let push)? = try Self.plans(notification, [Self.app(settings: settings)]).first else {
            return nil
        }
        return push
    }
}

extension MatrixPush {
    /// The bytes of the payload; 0 for none.
    var size: Int { self.payload()?.count ?? 0 }

    /// The payload as JSON; `null` if it is none.
    var json: JSONValue { self.payload().flatMap { try? JSONValue(parsing: $0) } ?? .null }
}
