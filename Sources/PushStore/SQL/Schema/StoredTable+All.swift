import Foundation
import ProviderModel

extension StoredTable {
    /// All tables, in the order in which an app's rows are deleted and secrets are listed. A new table is listed beside
    /// the migration that creates it.
    static let all = Array(
        [
            Self.ofApps, Self.ofNotifications, Self.ofDevices, Self.ofSchedules, Self.ofWebhooks, Self.ofPublications,
            Self.ofBridges, Self.ofWebPush, Self.ofChats, Self.ofPeople, Self.ofCharts, Self.ofProvider,
            SQLSchema.tablesFrom29,
        ].joined()
    )

    private static let ofApps: [StoredTable] = [
        StoredTable("app", .app(.apart), examination: .reading(AppRecord.self, ["app": "id"])),
        StoredTable("appStop", .app(.inSteps)),
        StoredTable(
            "credential",
            .app(.atOnce),
            secrets: SealedColumn(name: "credentials", remedy: "set each again: 'martlet credential set'") { row in
                guard let app = row["app"] as Int64? else { return nil }
                return row.environment("environment").map { .credential(app: app, $0) }
            },
            examination: Examination(name: ["credential of app": "app", "environment": "environment"]) { row, key in
                guard let key else { return }
                guard let sealed = row["sealed"] as Data?, let app = row["app"] as Int64?,
                    let environment = row.environment("environment"),
                    (try? key.open(sealed, for: .credential(app: app, environment))) != nil
                else { throw DamagedRow(table: "credential") }
            }
        ),
        StoredTable("health", .app(.inSteps)),
        StoredTable("environmentState", .app(.inSteps)),
        StoredTable("channel", .app(.atOnce), examination: .reading(ChannelRecord.self, ["channel": "id"])),
    ]

    private static let ofNotifications: [StoredTable] = [
        StoredTable(
            "notification",
            .app(.apart),
            .other,
            // Finished notifications are not examined, because they send nothing, and there may be very many.
            examination: .reading(NotificationRecord.self, ["notification": "number"], where: "finishedAt IS NULL")
        ),
        StoredTable("shard", .notification(isLedger: false)),
        // For an erased device, this table contains only its id.
        StoredTable("retry", .notification(isLedger: false)),
        StoredTable("tokenHad", .notification(isLedger: false), .other),
        StoredTable("badgeStep", .notification(isLedger: false), .other),
        StoredTable("target", .notification(isLedger: false), .other),
        StoredTable("delivery", .notification(isLedger: true), .other),
        StoredTable("receipt", .notification(isLedger: true), .other),
        StoredTable("receiptCount", .notification(isLedger: true)),
        StoredTable("page", .notification(isLedger: true)),
        StoredTable("attempt", .notification(isLedger: true), .other),
        StoredTable("skipCount", .otherRow),
        StoredTable("capUse", .app(.inSteps), .holder),
    ]

    private static let ofDevices: [StoredTable] = [
        // These rows are deleted before the devices. Otherwise one step would delete them together with many devices.
        StoredTable("deviceTag", .app(.inSteps), .device),
        StoredTable("deviceAttribute", .app(.inSteps), .device),
        StoredTable(
            "device",
            .app(.inSteps),
            .other,
            examination: Examination(
                name: ["device": "id"],
                condition: """
                    length(token) NOT BETWEEN 1 AND 512 OR environment NOT IN (0, 1) OR kind NOT BETWEEN 0 AND 10
                        OR attributes IS NOT NULL AND (json_valid(attributes) = 0 OR substr(attributes, 1, 1) != '{')
                    """
            )
        ),
        StoredTable("deviceLink", .otherRow, .device),
        StoredTable("deviceUser", .app(.inSteps), .other),
        StoredTable("formerToken", .app(.inSteps), .other),
        StoredTable("badge", .app(.inSteps), .holder),
        StoredTable("userPreference", .app(.inSteps), .user),
        StoredTable(
            "tokenEvent",
            .app(.inSteps),
            .other,
            examination: Examination(
                name: ["token event": "id"],
                condition: "length(token) NOT BETWEEN 1 AND 512 OR environment NOT IN (0, 1)"
            )
        ),
        StoredTable("feedbackRun", .app(.inSteps)),
        StoredTable("legacyToken", .app(.inSteps), .other),
    ]

    private static let ofSchedules: [StoredTable] = [
        StoredTable("schedule", .app(.atOnce), .other, examination: .reading(ScheduleRecord.self, ["schedule": "id"])),
        StoredTable("libraryItem", .app(.inSteps), .other),
        StoredTable("libraryVersion", .otherRow, .other),
        StoredTable("scheduleUse", .otherRow),
    ]

    private static let ofWebhooks: [StoredTable] = [
        StoredTable(
            "webhook",
            .app(.atOnce),
            secrets: .byID("webhooks", remedy: "add each again: 'martlet webhook add'") { .webhook($0, app: $1) },
            examination: .reading(WebhookRecord.self, ["webhook": "id"])
        ),
        // This table has no index by app.
        StoredTable("webhookPost", .app(.apart)),
        StoredTable("eventBlock", .app(.inSteps), .other),
        StoredTable(
            "userSecret",
            .app(.atOnce),
            secrets: .byID(
                "secrets for users' signatures",
                remedy: "add one for each app, and give it to the app's server (docs/provider.md)"
            ) { .userSecret($0, app: $1) }
        ),
    ]

    private static let ofPublications: [StoredTable] = [
        StoredTable(
            "entitlementServer",
            .app(.atOnce),
            secrets: SealedColumn(name: "publishers' servers", remedy: "set each again: 'martlet entitlement set'") {
                ($0["app"] as Int64?).map { .entitlementServer(app: $0) }
            },
            examination: .reading(EntitlementServerRecord.self, ["publisher's server of app": "app"])
        ),
        StoredTable("publication", .app(.inSteps)),
        StoredTable("issue", .app(.inSteps)),
        StoredTable("rendition", .app(.inSteps)),
        StoredTable("file", .app(.inSteps)),
        StoredTable("upload", .app(.inSteps)),
        StoredTable("catalogue", .app(.inSteps)),
        StoredTable(
            "addressKey",
            .provider,
            secrets: SealedColumn(
                name: "keys for the addresses of files",
                remedy: "nothing to do: a new one is made, and addresses that were given out end"
            ) { _ in .addressKey }
        ),
    ]

    private static let ofBridges: [StoredTable] = [
        StoredTable(
            "bridge",
            .app(.atOnce),
            secrets: SealedColumn(
                name: "bridges with a secret",
                remedy: "set each again with its secret (docs/bridges-xmpp.md)"
            ) { row in
                guard let kind = row.value("kind") as BridgeKind?, let name = row["name"] as String?,
                    let app = row["app"] as Int64?
                else { return nil }
                return .bridge(kind, name: name, app: app)
            },
            examination: .reading(BridgeRecord.self, ["bridge": "name"])
        ),
        StoredTable("shadow", .app(.atOnce)),
        StoredTable("shadowDifference", .app(.atOnce)),
    ]

    private static let ofWebPush: [StoredTable] = [
        StoredTable(
            "vapidKey",
            .app(.atOnce),
            secrets: .byID(
                "keys of Web Push",
                remedy: "add one for each app: browsers have to subscribe again"
            ) { .vapidKey($0, app: $1) },
            examination: .reading(VAPIDKeyRecord.self, ["VAPID key": "id"])
        ),
        StoredTable(
            "webSubscription",
            .app(.inSteps),
            .other,
            secrets: SealedColumn(
                name: "browsers' subscriptions",
                remedy: "each comes back when its browser subscribes again"
            ) { row in
                guard let app = row["app"] as Int64? else { return nil }
                return row.token("token").map { .webSubscription($0, app: app) }
            },
            examination: Examination(name: ["a subscription of app": "app"]) { row, masterKey in
                if let masterKey { _ = try SubscriptionRecord(row: row, masterKey) }
            }
        ),
        StoredTable(
            "pushResource",
            .app(.atOnce),
            .installation,
            secrets: .byID(
                "push resources with an address of their sender",
                remedy: "nothing to do: nobody tells their senders that they have ended",
                keepsRow: true
            ) { .pushResource($0, app: $1) },
            examination: .reading(PushResourceRecord.self, ["push resource": "id"])
        ),
        StoredTable("pushMessage", .app(.inSteps)),
    ]

    private static let ofChats: [StoredTable] = [
        StoredTable(
            "chatSession",
            .app(.atOnce),
            .user,
            secrets: .byID("sessions at chat servers", remedy: "each user allows it again in the app") {
                .chatSession($0, app: $1)
            },
            examination: .reading(ChatSessionRecord.self, ["chat session": "id"])
        ),
        StoredTable(
            "xmppNode",
            .app(.inSteps),
            .user,
            .installation,
            examination: Examination(
                name: ["XMPP node": "id"],
                condition: "length(secretHash) != 32 OR (installation IS NULL) = (user IS NULL)"
            )
        ),
    ]

    /// The tables of people and API keys, which belong to the provider. An app's erasure removes the app from them.
    private static let ofPeople: [StoredTable] = [
        StoredTable(
            "person",
            .provider,
            secrets: SealedColumn(
                name: "people's passwords",
                remedy: "make a link for each person: 'martlet person invite'",
                column: "password",
                keepsRow: true
            ),
            examination: .reading(PersonRecord.self, ["person": "id"])
        ),
        StoredTable("session", .otherRow, examination: .reading(SessionRecord.self, ["session": "id"])),
        StoredTable("personLink", .otherRow),
        StoredTable("personNetwork", .otherRow),
        StoredTable("signInLock", .provider),
        StoredTable("apiKey", .provider),
        StoredTable("audit", .provider),
    ]

    private static let ofCharts: [StoredTable] = [
        StoredTable("statistic", .app(.inSteps)),
        StoredTable("statisticReason", .app(.inSteps)),
    ]

    private static let ofProvider: [StoredTable] = [
        StoredTable(
            "providerToken",
            .provider,
            secrets: SealedColumn(
                name: "provider tokens",
                remedy: "nothing to do: new ones are made",
                isLost: false
            ) { row in
                guard let teamID = row["teamID"] as String?, let keyID = row["keyID"] as String?,
                    let fingerprint = row["fingerprint"] as String?
                else { return nil }
                return .providerToken(ProviderTokenKey(teamID: teamID, keyID: keyID, fingerprint: fingerprint))
            }
        ),
        StoredTable(
            "masterKeyMark",
            .provider,
            secrets: SealedColumn(
                name: "marks of the master key",
                remedy: "nothing to do: the next start makes it",
                isLost: false
            ) { _ in .mark }
        ),
        StoredTable("erasure", .app(.apart), .other),
        StoredTable("lastApp", .provider),
        StoredTable("registrationClock", .provider),
        StoredTable("clock", .provider),
        StoredTable("node", .provider),
        StoredTable("lease", .provider),
        StoredTable("reason", .provider),
        StoredTable("connection", .provider),
        StoredTable("gatewayCursor", .provider),
    ]
}
