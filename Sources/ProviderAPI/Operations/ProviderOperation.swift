package import PushHTTP
package import PushStore
import PushSupport
import PushTypes

/// An operation of the provider's REST API.
package typealias ProviderOperation = APIOperation<APIScope>

extension OperationTag {
    static let apps = OperationTag("Apps")
    package static let devices = OperationTag("Devices")
    static let audiences = OperationTag("Audiences")
    static let templates = OperationTag("Templates")
    static let notifications = OperationTag("Notifications")
    static let channels = OperationTag("Channels")
    static let schedules = OperationTag("Schedules")
    static let publishing = OperationTag("Publishing")
    static let tokens = OperationTag("Tokens")
    static let webhooks = OperationTag("Webhooks")
    package static let bridges = OperationTag("Bridges")
    static let administration = OperationTag("Administration")
    static let people = OperationTag("People")
    static let operation = OperationTag("Operation")

    /// The sections of the document, in their order.
    static let all: [OperationTag] = [
        .apps, .devices, .audiences, .templates, .notifications, .channels, .schedules, .publishing, .tokens, .webhooks,
        .bridges, .administration, .people, .operation,
    ]
}

extension Cursor.List {
    static let devices = Cursor.List("d")
    static let notifications = Cursor.List("n")
    static let deliveries = Cursor.List("r")
    static let tokenEvents = Cursor.List("t")
    static let audit = Cursor.List("a")
    static let history = Cursor.List("h", numbers: 2)
    static let schedules = Cursor.List("s")
    static let receipts = Cursor.List("p", numbers: 3)
    static let timeline = Cursor.List("l")
    static let webhookDeliveries = Cursor.List("w")
    static let audiences = Cursor.List("la")
    static let templates = Cursor.List("lt")
    static let libraryVersions = Cursor.List("lv")
    static let people = Cursor.List("o")
    static let issues = Cursor.List("i", numbers: 2)
}

extension ParameterDescription {
    static let environment = ParameterDescription.query("environment", "Of this environment only.", .environment)
    static let tokenKind = ParameterDescription.query("kind", "With tokens of this kind.", .choice(of: TokenKind.self))
}

/// The parameters in the paths of the API.
enum PathParameter {
    static let all: [String: OpenAPIDocument<APIScope>.PathParameter] = [
        "app": ("The app's bundle id.", .bundleID),
        "environment": ("The push service's environment.", .environment),
        "token": ("A device token in hexadecimal.", .deviceToken),
        "user": ("A user id, percent-encoded.", .string(length: 1...256)),
        "notification": ("The notification's id.", .uuid),
        "channel": ("The channel's id, percent-encoded.", .channelID),
        "schedule": ("The schedule's id.", .uuid),
        "webhook": ("The webhook's id.", .uuid),
        "publication": ("The publication's id.", .uuid),
        "issue": ("The issue's id.", .uuid),
        "productId": ("The issue's product id.", .productID),
        "screenSize": ("A size in pixels, such as 2048x1536.", .screenSize),
        "upload": ("The upload's id.", .uuid),
        "file": ("The SHA-256 of the file's content.", .contentHash),
        "key": ("The API key's id.", .uuid),
        "person": ("The person's id.", .uuid),
        "session": ("The session's id.", .uuid),
        "chatSession": ("The id of the session at a chat server.", .uuid),
        "userSecret": ("The user secret's id.", .uuid),
        "installation": ("An id that the app makes once, percent-encoded.", .string(length: 8...256)),
        "kind": ("The protocol of the bridge.", .choice(of: BridgeKind.self)),
        "node": ("The node's name.", .string(length: 1...64)),
        "bridge": ("The bridge's name.", .string(length: 1...BridgeRecord.maximumName)),
        "pushResource": ("The push resource's id.", .uuid),
        "audience": LibraryItems.parameter("audience"),
        "template": LibraryItems.parameter("template"),
        "apnsId": ("The apns-id of a push.", .uuid),
    ]

    /// The operations that make or list what paths name.
    static let sources: [OpenAPIDocument<APIScope>.Source] = [
        ("app", "addApp", "$response.body#/bundleId"),
        ("app", "listApps", "$response.body#/apps/0/bundleId"),
        ("audience", "addAudience", "$response.body#/id"),
        ("audience", "saveAudience", "$response.body#/id"),
        ("audience", "listAudiences", "$response.body#/audiences/0/id"),
        ("template", "addTemplate", "$response.body#/id"),
        ("template", "saveTemplate", "$response.body#/id"),
        ("template", "listTemplates", "$response.body#/templates/0/id"),
        ("bridge", "setBridge", "$request.path.bridge"),
        ("bridge", "listBridges", "$response.body#/bridges/0/name"),
        ("kind", "listBridges", "$response.body#/bridges/0/kind"),
        ("channel", "createChannel", "$response.body#/id"),
        ("environment", "createChannel", "$response.body#/environment"),
        ("channel", "listChannels", "$response.body#/channels/0/id"),
        ("environment", "setCredential", "$request.path.environment"),
        ("token", "registerDevice", "$response.body#/token"),
        ("user", "registerDevice", "$response.body#/user"),
        ("token", "listDevices", "$response.body#/devices/0/token"),
        ("user", "listDevices", "$response.body#/devices/0/user"),
        ("installation", "registerSelf", "$request.path.installation"),
        ("user", "setPreferences", "$request.path.user"),
        ("user", "setBadge", "$request.path.user"),
        ("pushResource", "addPushResource", "$response.body#/id"),
        ("pushResource", "listPushResources", "$response.body#/pushResources/0/id"),
        ("chatSession", "addOwnChatSession", "$response.body#/id"),
        ("chatSession", "addChatSession", "$response.body#/id"),
        ("chatSession", "listChatSessions", "$response.body#/sessions/0/id"),
        ("node", "addXMPPNode", "$response.body#/node"),
        ("node", "addOwnXMPPNode", "$response.body#/node"),
        ("node", "listXMPPNodes", "$response.body#/nodes/0/node"),
        ("file", "listFiles", "$response.body#/files/0/sha256"),
        ("file", "uploadFile", "$response.body#/sha256"),
        ("upload", "beginUpload", "$response.body#/id"),
        ("upload", "listUploads", "$response.body#/uploads/0/id"),
        ("publication", "addPublication", "$response.body#/id"),
        ("publication", "listPublications", "$response.body#/publications/0/id"),
        ("issue", "addIssue", "$response.body#/id"),
        ("issue", "listIssues", "$response.body#/issues/0/id"),
        ("productId", "catalogue", "$response.body#/issues/0/productId"),
        ("screenSize", "setRendition", "$request.path.screenSize"),
        ("screenSize", "showIssue", "$response.body#/renditions/0/screenSize"),
        ("schedule", "addSchedule", "$response.body#/id"),
        ("schedule", "listSchedules", "$response.body#/schedules/0/id"),
        ("notification", "send", "$response.body#/id"),
        ("notification", "broadcast", "$response.body#/id"),
        ("notification", "resendNotification", "$response.body#/id"),
        ("notification", "listNotifications", "$response.body#/notifications/0/id"),
        ("notification", "listAppNotifications", "$response.body#/notifications/0/id"),
        ("apnsId", "listDeliveries", "$response.body#/deliveries/0/apnsId"),
        ("userSecret", "addUserSecret", "$response.body#/id"),
        ("userSecret", "listUserSecrets", "$response.body#/userSecrets/0/id"),
        ("webhook", "addWebhook", "$response.body#/id"),
        ("webhook", "listWebhooks", "$response.body#/webhooks/0/id"),
        ("key", "addKey", "$response.body#/id"),
        ("key", "listKeys", "$response.body#/keys/0/id"),
        ("person", "addPerson", "$response.body#/id"),
        ("person", "listPeople", "$response.body#/people/0/id"),
        ("session", "listOwnSessions", "$response.body#/sessions/0/id"),
    ]
}
