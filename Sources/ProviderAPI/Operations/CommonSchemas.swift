import PushHTTP
import PushProvider
import PushStore
import PushSupport
import PushTypes
import PushWire

/// The schemas that several operations use.
extension Schema {
    static let bundleID = Schema.string(length: 1...255, pattern: "^[A-Za-z0-9._-]+$")

    /// A device token in hexadecimal.
    static let deviceToken = Schema.string(length: 2...1024, pattern: "^([0-9A-Fa-f]{2})+$")

    /// The pattern of ``DurationText``.
    static let durationPattern = "^[0-9]+[smhd]$"

    /// The address of a server that is called.
    static let webAddress = Schema.string(
        length: 1...WebhookAddress.maximumLength,
        pattern: "^[Hh][Tt][Tt][Pp][Ss]?://[^\\s\\\\<>#]+$"
    )

    /// The id of a broadcast channel.
    static let channelID = Schema.string(length: 1...ChannelID.maximumLength, pattern: "^[A-Za-z0-9+/=_-]+$")

    /// The badge count of a user.
    static let badgeCount = Schema.integer(0...Int64(BadgeChange.maximumCount))

    /// The value of an attribute of a device.
    static let attribute = Schema.any(of: [.string(length: 0...DeviceRequest.maximumText), .number, .bool])

    /// The value of a variable of a template.
    static let variable = Schema.any(of: [.string(length: 0...TemplateVariables.maximumValue), .number, .bool])

    /// A text of the length that most members have.
    static let text = Schema.string(length: 1...DeviceRequest.maximumText)

    /// A condition on devices.
    static let audience: Schema = {
        let comparing = ["is", "atLeast", "above", "atMost", "below"]
        func comparisons(_ value: Schema) -> [(key: String, value: Schema)] {
            comparing.map { ($0, value) }
        }
        let version = Schema.object(required: [], optional: comparisons(.text), acceptsNull: false).withMembers
        let seen = comparisons(.time) + [("withinDays", .integer(1...36_500))]
        let inner = Schema.array(of: .reference("Audience"), count: 1...200)
        let members: KeyValuePairs<String, Schema> = [
            "all": .onlyTrue, "token": .writtenToken, "user": .text, "users": .array(of: .text, count: 1...200),
            "tag": .text,
            "activity": .text.described("A Live Activity, by the app's id of it."), "attribute": .text,
            "in": .array(of: .attribute, count: 1...200), "locale": .text, "timeZone": .timeZone,
            "appVersion": version, "lastSeen": .object(required: [], optional: seen, acceptsNull: false).withMembers,
            "and": inner,
            "or": inner,
            "not": .reference("Audience"),
            "named": .text.described("The name of a named audience, as it is when the request is accepted."),
        ]
        return Schema.object(required: [], optional: comparisons(.attribute) + members, acceptsNull: false)
            .withMembers.requiring("attribute", beside: comparing + ["in"])
            .described("A condition on devices. If it has several members, all of them must hold.")
            .example(.texts(["tag": "beta"]))
            .named("Audience")
    }()

    /// The registration of a device.
    static let deviceRequest = Schema.object(
        required: [:],
        optional: [
            "token": Schema.writtenToken.described("32 to 512 bytes in hexadecimal or base64, but for the kind web."),
            "subscription": .subscription, "vapidKey": .vapidKey,
            "environment": .environment.described("Default production."),
            "kind": .choice(of: TokenKind.self).described("Default alert, or the kind that is stored with the token."),
            "activity": .text.described("The app's id of the Live Activity, of an update token."), "user": .text.orNull,
            "locale": .locale.orNull, "timeZone": .timeZone.orNull.described("Such as Europe/Berlin."),
            "appVersion": .text.orNull,
            "installation": .text.described("With it, a changed token replaces the old one of its kind."),
            "capabilities": .array(of: .choice(DeviceCapabilities.named.keys.sorted())),
            "tags": .array(of: .text, count: 0...DeviceRequest.maximumTags).described("They replace all earlier tags."),
            "attributes": .map(of: Schema.attribute.orNull)
                .described("The attributes to set, or with null to remove."),
            "preferences": Schema.preferences.orNull, "encryptionKey": Schema.encryptionKey.orNull,
        ]
    )
    .requiringOne(of: "token", "subscription")
    .completeForItsKind
    .described("A member that is absent keeps its value; null removes it.")
    .example(.texts(["token": "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff", "user": "alice"]))
    .named("DeviceRequest")

    /// This registration of a device, in which an update token names its Live Activity, and a browser has a subscription.
    var completeForItsKind: Schema {
        self.requiring("activity", where: "kind", is: .string(TokenKind.liveActivityUpdate.rawValue))
            .requiring("subscription", where: "kind", is: .string(TokenKind.web.rawValue))
    }

    /// The pattern of base64 and base64url.
    private static let base64 = "^[A-Za-z0-9+/_=-]+$"

    /// A browser's subscription, as its `toJSON()` makes it.
    static let subscription: Schema = {
        let keys = Schema.object(required: [
            "p256dh": .string(length: 1...128, pattern: Self.base64),
            "auth": .string(length: 1...128, pattern: Self.base64),
        ])
        return Schema.object(
            required: [
                "endpoint": .string(length: 1...WebPushSubscription.maximumEndpoint, pattern: "^https://[^\\s]+$"),
                "keys": keys,
            ],
            isOpen: true
        )
        .described("The browser's subscription, of a device of the kind web.")
        .named("Subscription")
    }()

    /// The public VAPID key of a subscription.
    static let vapidKey = Schema.string(length: 86...128, pattern: "^[A-Za-z0-9_=-]+$")
        .described("The applicationServerKey of the subscription. Default the app's newest, or the stored one.")

    /// A time on a clock.
    static let clockTime = Schema.string(length: 5...8, pattern: "^([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9])?$")

    /// The categories that a person does not want, and the quiet hours.
    static let preferences = Schema.object(required: [], optional: Self.preferenceMembers)
        .described("Replaces all earlier preferences.")
        .named("Preferences")

    /// The preferences of a user that were set.
    static let userPreferences = Schema.object(
        required: [
            (
                key: "underWay",
                value: .integer(0 ... .max).described("The pushes to the user's devices that they came too late for.")
            )
        ],
        optional: Self.preferenceMembers
    )
    .named("UserPreferences")

    private static let preferenceMembers: [(key: String, value: Schema)] = {
        let hours = Schema.object(required: ["from": Schema.clockTime, "to": Schema.clockTime])
            .described("Times on the clock of each device. They differ, and may span midnight.")
        let category = Schema.string(length: 1...Preferences.maximumCategory)
        let categories = Schema.array(of: category, count: 0...Preferences.maximumOptOuts)
            .described("The consent categories that are not wanted.")
        return [(key: "optOuts", value: categories), (key: "quietHours", value: hours.orNull)]
    }()

    /// The public key to which content is sealed.
    static let encryptionKey = Schema.object(required: [
        "id": .string(length: 1...EncryptionKey.maximumID, pattern: "^[!#-.0-\\[\\]-~]+$"),
        "key": .string(length: 44...44, pattern: "^[A-Za-z0-9+/]{43}=$")
            .described("Base64 of the 32 bytes of an X25519 public key."),
    ]).named("EncryptionKey")

    /// A time in RFC 3339, whose seconds may be left out.
    static let rfc3339 = Schema.string(
        length: 17...40,
        pattern: "^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])[Tt]([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9])?"
            + "(\\.[0-9]{1,9})?([Zz]|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$"
    )

    /// The seconds since 1970 of the years that have four digits.
    static let calendarSeconds: ClosedRange<Int64> = 0...253_402_300_799

    /// A time in a query.
    static let queryTime = Schema.any(of: [.rfc3339, .integer(Self.calendarSeconds)])

    /// A locale in the form of BCP 47 or of POSIX.
    static let locale = Schema.string(
        length: 2...LocaleTag.maximumLength,
        pattern: "^[A-Za-z]{2,3}([-_][A-Za-z0-9]{1,8})*([.@][A-Za-z0-9_.@=;-]*)?$"
    )

    /// The name of a time zone.
    static let timeZone = Schema.string(length: 1...DeviceRequest.maximumText, pattern: "^[A-Za-z0-9/_+-]+$")

    /// A device token in hexadecimal or base64, with the spaces and brackets of old tools.
    static let writtenToken = Schema.string(
        length: 43...DeviceToken.maximumLength * 4,
        pattern: "^[A-Za-z0-9+/=<> \\t\\r\\n]+$"
    )

    /// A time in RFC 3339 or in seconds.
    static let time = Schema.any(of: [
        .rfc3339, Schema.integer(0...253_402_300_799_999),
    ]).described("RFC 3339, or seconds since 1970. Numbers from 10^11 on are milliseconds, which is deprecated.")

    /// The names of the weekdays, in any case.
    private static let dayPattern: String = {
        let days = Weekday.allCases.map { day in
            day.rawValue.map { "[\($0.uppercased())\($0)]" }.joined()
        }
        return "^(\(days.joined(separator: "|")))$"
    }()

    /// One or more ranges of hours.
    static let hours: Schema = {
        let time = Schema.clockTime
        let day = Schema.string(length: 3...3, pattern: Self.dayPattern)
        let one = Schema.object(optional: ["from": time, "to": time, "days": .array(of: day, count: 1...7)])
            .requiringOne(of: "from", "days").requiring("from", beside: ["to"]).requiring("to", beside: ["from"])
            .described("from and to (HH:MM) come together; days are mon, tue …; see docs/provider.md.")
        return .any(of: [one, .array(of: one, count: 1...SendWindow.maximumHours)])
    }()

    /// A time from 1970 on without a time zone.
    static let localTime = Schema.string(
        length: 16...19,
        pattern: "^(19[7-9][0-9]|[2-9][0-9]{3})-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])T([01][0-9]|2[0-3]):[0-5][0-9]"
            + "(:[0-5][0-9])?$"
    )

    /// The time of a delivery: absolute, or local to each device.
    static let deliveryTime = Schema.object(optional: [
        "at": .time,
        "localTime": .localTime.described("2026-11-25T09:30, in each device's time zone."),
        "past": .choice(of: DeliveryTime.PastPolicy.self), "window": .hours, "quietHours": .hours,
        "timeZone": .timeZone.described("device, or one zone for all."), "defaultTimeZone": .timeZone,
    ])
    .requiringOne(of: "at", "localTime", "window", "quietHours").requiring("localTime", beside: ["past"])
    .named("DeliveryTime")

    /// A change of the limits of downloads beyond which a wave waits.
    static let steering = Schema.downloadLimits.named("Steering")

    private static let downloadLimits = Schema.object(optional: [
        "maximumBandwidth": Schema.integer(1...PaceSettings.maximumBandwidth).orNull
            .described("Bytes per second of the app's downloads beyond which the next wave waits."),
        "maximumDownloads": Schema.integer(1...PaceSettings.maximumDownloads).orNull
            .described("Open downloads of the app beyond which the next wave waits."),
    ])

    /// The rate or the waves of a notification.
    static let pace = Schema.object(optional: [
        "rate": .integer(1...PaceSettings.maximumRate).described("Recipients per second."),
        "waves": .object(
            required: [
                "size": .integer(1...PaceSettings.maximumWave),
                "intervalSeconds": .integer(1...PaceSettings.maximumInterval),
            ],
            optional: ["steering": .downloadLimits.requiringOne(of: "maximumBandwidth", "maximumDownloads")]
        ),
    ])
    .requiringOne(of: "rate", "waves").named("Pace")

    /// The rule of a schedule.
    static let rule = Schema.object(
        required: [
            "cron": .string(length: 1...200, pattern: "^[ \\t]*(@[A-Za-z]+|[^ \\t]+([ \\t]+[^ \\t]+){4})[ \\t]*$"),
            "timeZone": .timeZone,
        ],
        optional: [
            "missedRuns": .choice(["skip", "runOnce", "runAll"]),
            "maximumLatenessSeconds": .integer(60...31 * 86_400),
            "maximumRuns": .integer(1...Int64(RecurringSchedule.maximumRuns)), "from": .time, "until": .time,
        ]
    )
    .example(.texts(["cron": "0 9 * * mon-fri", "timeZone": "Europe/Berlin", "missedRuns": "skip"]))
    .named("ScheduleRule")
}
