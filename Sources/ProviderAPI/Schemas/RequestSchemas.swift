import PushProvider
import PushStore
import PushTypes

/// What requests bring: devices, audiences, times.
extension Schema {
    /// A text of the length that most members have.
    static let text = Schema.string(length: 1...DeviceRequest.maximumText)

    static let audience: Schema = {
        let value = Schema.any(of: [.string(), .number, .bool])
        let version = Schema.object(optional: [
            "is": .text, "atLeast": .text, "above": .text, "atMost": .text, "below": .text,
        ])
        let seen = Schema.object(optional: [
            "is": .moment, "atLeast": .moment, "above": .moment, "atMost": .moment, "below": .moment,
            "withinDays": .integer(1...36_500),
        ])
        let inner = Schema.reference("Audience")
        return Schema.object(optional: [
            "all": .bool, "token": .text, "user": .text, "users": .array(of: .text, count: 1...200), "tag": .text,
            "attribute": .text, "is": value, "atLeast": value, "above": value, "atMost": value, "below": value,
            "in": .array(of: value, count: 1...200), "locale": .text, "appVersion": version, "timeZone": .text,
            "lastSeen": seen, "and": .array(of: inner, count: 1...200), "or": .array(of: inner, count: 1...200),
            "not": inner,
        ])
        .described("A condition on devices; several members mean that all must hold.")
        .example(.texts(["tag": "beta"]))
        .named("Audience")
    }()

    static let deviceRequest = Schema.object(
        required: [
            "token": .string(length: 2...DeviceToken.maximumLength * 4).described("Hexadecimal or base64.")
        ],
        optional: [
            "environment": .environment.described("Default production."), "user": .text.orNull,
            "locale": .text.orNull, "timeZone": .text.orNull.described("Such as Europe/Berlin."),
            "appVersion": .text.orNull,
            "installation": .text.described("With it, a changed token replaces the old one."),
            "capabilities": .array(of: .choice(DeviceCapabilities.named.keys.sorted())),
            "tags": .array(of: .text, count: 0...DeviceRequest.maximumTags).described("All tags from now on."),
            "attributes": .map(of: Schema.any(of: [.string(), .number, .bool]).orNull)
                .described("Those to set, or with null to remove."),
        ]
    )
    .described("What is left out stays as it was; null removes.")
    .example(.texts(["token": "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff", "user": "alice"]))
    .named("DeviceRequest")

    /// RFC 3339 or milliseconds.
    static let time = Schema.any(of: [
        Schema.string(length: 1...40), Schema.integer(0...253_402_300_799_999),
    ]).described("RFC 3339, or milliseconds since 1970.")

    static let hours: Schema = {
        let one = Schema.object(isOpen: true).described("from, to (HH:MM), days; see docs/provider.md.")
        return .any(of: [one, .array(of: one, count: 1...20)])
    }()

    static let deliveryTime = Schema.object(optional: [
        "at": .time, "localTime": .string(length: 1...32).described("2026-11-25T09:30, on each device's clock."),
        "past": .choice(DeliveryTime.PastPolicy.allCases.map(\.rawValue)), "window": .hours, "quietHours": .hours,
        "timeZone": .text.described("device, or one zone for all."), "defaultTimeZone": .text,
    ]).named("DeliveryTime")

    static let pace = Schema.object(optional: [
        "rate": .integer(1...PaceSettings.maximumRate).described("Recipients per second."),
        "waves": .object(required: [
            "size": .integer(1...PaceSettings.maximumWave),
            "intervalSeconds": .integer(1...PaceSettings.maximumInterval),
        ]),
    ]).named("Pace")

    static let rule = Schema.object(
        required: ["cron": .string(length: 1...200), "timeZone": .text],
        optional: [
            "missedRuns": .choice(["skip", "runOnce", "runAll"]),
            "maximumLatenessSeconds": .integer(60...31 * 86_400),
            "maximumRuns": .integer(1...Int64(RecurringSchedule.maximumRuns)), "from": .time, "until": .time,
        ]
    )
    .example(.texts(["cron": "0 9 * * mon-fri", "timeZone": "Europe/Berlin", "missedRuns": "skip"]))
    .named("ScheduleRule")
}
