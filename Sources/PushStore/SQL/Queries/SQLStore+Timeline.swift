package import Foundation
package import ProviderModel
import PushSupport
package import PushTypes

extension SQLStore {
    package func notification(_ prefix: DeliveryPrefix) async throws -> NotificationRecord? {
        try await self.database.lookup { database in
            try database.row(sql: "SELECT * FROM notification WHERE prefix = ?", [prefix.bits])
                .map { try NotificationRow.record($0, in: database) }
        }
    }

    package func waiting(
        app: Int64,
        device: Int64?,
        token: DeviceToken,
        since: Timestamp?,
        limit: Int
    ) async throws -> [RecipientKey] {
        let isLater = "(CAST(?5 AS BIGINT) IS NULL OR \(DeviceUsers.firstTry("retry")) > ?5)"
        // Notifications in progress are few. Notifications to named tokens are found by the token.
        let sql = """
            SELECT id, recipient FROM (
                SELECT notification.id, number, recipient FROM notification INDEXED BY notificationWatching
                    JOIN retry ON retry.notification = number AND recipient = ?2
                WHERE notification.app = ?1 AND finishedAt IS NULL AND openedAfter IS NOT NULL AND \(isLater)
                UNION SELECT notification.id, number, recipient FROM target
                    CROSS JOIN notification ON number = target.notification
                    JOIN retry ON retry.notification = number AND recipient = -position
                WHERE target.token = ?3 AND notification.app = ?1 AND \(isLater)) AS waiting
            ORDER BY number DESC LIMIT ?4
            """
        let arguments: SQLArguments = [app, device ?? 0, Data(token.bytes), limit, since?.milliseconds]
        return try await self.database.query { database in
            try database.rows(sql: sql, arguments).compactMap { row in
                guard let id = row.uuid("id"), let recipient = row["recipient"] as Int64? else { return nil }
                return RecipientKey(notification: id, recipient: recipient)
            }
        }
    }

    package func history(of notification: UUID, recipient: Int64) async throws -> DeliveryHistory? {
        try await self.database.lookup { database in
            guard let key = try TimelineQuery.Subject(notification, in: database) else { return nil }
            let query = TimelineQuery(subject: key, database: database)
            let delivery = try DeliveryRows(database: database)
                .delivery(of: DeliveryPrefix(of: notification), recipient: recipient)
            var history = DeliveryHistory(
                beginning: try query.beginning(),
                delivery: delivery,
                attempts: try query.attempts(of: recipient)
            )
            (history.connection, history.milliseconds) = try query.trip(of: recipient)
            (history.nextTryAt, history.heldFor) = try query.nextTry(of: recipient)
            if let delivery {
                history.page = try query.page(of: recipient, at: delivery.at)
                history.events = try history.page?.block.flatMap(query.events(block:))
                history.tokenEvents = try delivery.token.map(query.tokenEvents) ?? []
            }
            return history
        }
    }

    package func history(of notification: UUID) async throws -> NotificationHistory? {
        // This query may take long, because a large campaign has many pages.
        try await self.database.query { database in
            guard let key = try TimelineQuery.Subject(notification, in: database) else { return nil }
            let query = TimelineQuery(subject: key, database: database)
            let (pages, retryPages) = (try query.pages(areRetries: false), try query.pages(areRetries: true))
            let all = [pages, retryPages].compactMap { $0 }
            return NotificationHistory(
                beginning: try query.beginning(),
                pages: pages?.summary,
                retryPages: retryPages?.summary,
                firstEvents: try all.compactMap(\.firstEventsAt).min().flatMap { try query.events(at: $0, .first) },
                lastEvents: try all.compactMap(\.lastEventsAt).max().flatMap { try query.events(at: $0, .last) }
            )
        }
    }
}

/// The queries for the timeline of one notification. Each is a look-up by a key, or a scan of the notification's pages.
struct TimelineQuery {
    /// The numbers by which the store identifies a notification and its app.
    struct Subject {
        let id: UUID
        let number, app: Int64

        init?(_ notification: UUID, in database: any SQLConnection) throws {
            let sql = "SELECT number, app FROM notification WHERE id = ?"
            guard let row = try database.row(sql: sql, [notification.uuidString]), let number = row["number"] as Int64?,
                let app = row["app"] as Int64?
            else { return nil }
            (self.id, self.number, self.app) = (notification, number, app)
        }
    }

    private static let ofConnection = "service, address, localPort, openedAt"

    let subject: Subject
    let database: any SQLConnection

    // MARK: A notification

    func beginning() throws -> NotificationBeginning {
        let sql = "SELECT receivedAt, checkedIn, warnings, openedAt, origin FROM notification WHERE number = ?"
        guard let row = try self.database.row(sql: sql, [self.subject.number])
        else { return NotificationBeginning(acceptance: AcceptanceRecord()) }
        var record = AcceptanceRecord(receivedAt: row.time("receivedAt"), checkedIn: row["checkedIn"])
        record.origin = (row["origin"] as String?).flatMap(NotificationOrigin.init)
        if let text = row["warnings"] as Data?, case .array(let values)? = try? JSONValue(parsing: text) {
            record.warnings = values.compactMap { if case .string(let text) = $0 { text } else { nil } }
        }
        return NotificationBeginning(acceptance: record, openedAt: row.time("openedAt"))
    }

    /// A summary of pages, with the times of the first and of the last page that have webhook events.
    struct Pages {
        var summary: PageSummary
        var firstEventsAt, lastEventsAt: Timestamp?
    }

    /// Returns the summary of the pages, of retries or of shards, or `nil` if there are no such pages.
    func pages(areRetries: Bool) throws -> Pages? {
        let sql = """
            SELECT count(*) AS pages, sum(recipients) AS recipients, min(coalesce(claimedAt, sentAt)) AS claimedAt,
                min(sentAt) AS sentAt, max(answeredAt) AS answeredAt, max(committedAt) AS committedAt,
                CAST(max(answeredAt - sentAt) AS BIGINT) AS longest,
                min(answeredAt) FILTER (WHERE block IS NOT NULL) AS firstEventsAt,
                max(answeredAt) FILTER (WHERE block IS NOT NULL) AS lastEventsAt
            FROM page WHERE notification = ? AND isRetry = ?
            """
        guard let row = try self.database.row(sql: sql, [self.subject.number, areRetries]),
            let pages = row["pages"] as Int?, pages > 0, let recipients = row["recipients"] as Int?,
            let claimedAt = row.time("claimedAt"), let sentAt = row.time("sentAt"),
            let answeredAt = row.time("answeredAt"), let committedAt = row.time("committedAt"),
            let longest = row["longest"] as Int64?
        else { return nil }
        let summary = PageSummary(
            pages: pages,
            recipients: recipients,
            firstClaimedAt: claimedAt,
            firstSentAt: sentAt,
            lastAnsweredAt: answeredAt,
            lastCommittedAt: committedAt,
            longest: .milliseconds(max(0, longest))
        )
        return Pages(summary: summary, firstEventsAt: row.time("firstEventsAt"), lastEventsAt: row.time("lastEventsAt"))
    }

    enum Edge {
        case first, last
    }

    /// Returns the webhook events of the first or last page among those with a given time, or `nil` if none has events.
    func events(at time: Timestamp, _ edge: Edge) throws -> PageEvents? {
        let order = edge == .first ? "ASC" : "DESC"
        let sql = """
            SELECT block FROM page WHERE notification = ? AND answeredAt = ? AND block IS NOT NULL
            ORDER BY first \(order) LIMIT 1
            """
        return try self.database.integer(sql: sql, [self.subject.number, time.milliseconds])
            .flatMap(self.events(block:))
    }

    // MARK: A recipient

    /// Returns the connection and the duration in milliseconds of a recipient's last push, each `nil` if it is unknown.
    func trip(of recipient: Int64) throws -> (OpenedConnection?, milliseconds: Int?) {
        let sql = "SELECT trip FROM delivery WHERE notification = ? AND recipient = ?"
        guard let number = try self.database.integer(sql: sql, [self.subject.number, recipient])
        else { return (nil, nil) }
        return try self.trip(number)
    }

    private func trip(_ number: Int64) throws -> (OpenedConnection?, milliseconds: Int?) {
        let (id, milliseconds) = StoredTrip.parts(number)
        let sql = "SELECT \(Self.ofConnection) FROM connection WHERE id = ?"
        guard let row = try self.database.row(sql: sql, [id]), let service = row["service"] as String?,
            let openedAt = row.time("openedAt")
        else { return (nil, milliseconds) }
        let connection = OpenedConnection(
            service: service,
            address: row["address"],
            localPort: row["localPort"],
            openedAt: openedAt
        )
        return (connection, milliseconds)
    }

    /// Returns the page that wrote a recipient's final state at a time, or `nil` if the page is unknown.
    func page(of recipient: Int64, at: Timestamp) throws -> PageRecord? {
        let sql = """
            SELECT * FROM page WHERE notification = ?1 AND answeredAt = ?2 AND first <= ?3 AND last >= ?3
            ORDER BY last - first LIMIT 1
            """
        guard let row = try self.database.row(sql: sql, [self.subject.number, at.milliseconds, recipient]),
            let sentAt = row.time("sentAt"), let committedAt = row.time("committedAt"),
            let recipients = row["recipients"] as Int?, let isRetry = row["isRetry"] as Bool?
        else { return nil }
        let times = PageTimes(claimedAt: row.time("claimedAt"), sentAt: sentAt, answeredAt: at)
        return PageRecord(
            times: times,
            committedAt: committedAt,
            recipients: recipients,
            isRetry: isRetry,
            block: row["block"]
        )
    }

    /// Returns the attempts for a recipient that were followed by another one, in chronological order.
    func attempts(of recipient: Int64) throws -> [AttemptRecord] {
        let sql = """
            SELECT number, firstAt, at, times, trip, text FROM attempt LEFT JOIN reason ON reason.id = attempt.reason
            WHERE notification = ? AND recipient = ? ORDER BY number
            """
        return try self.database.rows(sql: sql, [self.subject.number, recipient]).map { row in
            guard let number = row["number"] as Int64?, let firstAt = row.time("firstAt"), let at = row.time("at"),
                let times = row["times"] as Int?
            else { throw DamagedRow(table: "attempt") }
            let (connection, milliseconds) = try (row["trip"] as Int64?).map { try self.trip($0) } ?? (nil, nil)
            return AttemptRecord(
                at: at,
                times: times,
                firstAt: firstAt,
                wasSent: number % 2 == 0,
                reason: row["text"],
                connection: connection,
                milliseconds: milliseconds
            )
        }
    }

    /// The maximum number of token events in the timeline of a recipient. Later events are left out.
    private static let maximumTokenEvents = 100

    /// Returns the token events that the notification led to, oldest first. It scans the events of the token.
    func tokenEvents(of token: DeviceToken) throws -> [TokenEventRecord] {
        let sql = """
            SELECT * FROM tokenEvent INDEXED BY tokenEventByToken WHERE token = ? AND app = ? AND notification = ?
            ORDER BY id LIMIT ?
            """
        let arguments: SQLArguments = [
            token.sqlValue, self.subject.app, self.subject.id.uuidString, Self.maximumTokenEvents,
        ]
        return try self.database.records(sql: sql, arguments)
    }

    /// Returns the time of the next attempt by the steady clock, and the paused environments that delay the attempt
    /// until the pause ends. The time is `nil` if there is no next attempt or its time is not known yet. The
    /// environments are `nil` if none delays it.
    func nextTry(of recipient: Int64) throws -> (at: Timestamp?, heldFor: HoldingEnvironments?) {
        let sql = """
            SELECT dueAt, heldFor FROM retry
            WHERE notification = ? AND recipient = ? AND dueAt < \(RetryQueue.afterOthers) AND dueAt != \(RetryQueue.departed)
            """
        let row = try self.database.row(sql: sql, [self.subject.number, recipient])
        let heldFor = row.flatMap { $0["heldFor"] as Int64? }
        return (row?.time("dueAt"), heldFor.map(HoldingEnvironments.init(code:)))
    }

    // MARK: Webhooks

    /// Returns the events of a block and the requests that delivered them, or `nil` if the block was deleted.
    func events(block: Int64) throws -> PageEvents? {
        let sql = "SELECT at, position, kind FROM eventBlock WHERE id = ?"
        guard let row = try self.database.row(sql: sql, [block]), let at = row.time("at"),
            let kind = row["kind"] as String?
        else { return nil }
        var events = PageEvents(at: at, posts: [], waiting: [])
        let webhooks = "SELECT id, url, isActive, createdAt, instr(events, ?) AS wants FROM webhook WHERE app = ?"
        for webhook in try self.database.rows(sql: webhooks, [kind, self.subject.app]) {
            guard let id = webhook.uuid("id"), let url = webhook["url"] as String?,
                let createdAt = webhook.time("createdAt")
            else { continue }
            let post = try (row["position"] as Int64?).flatMap { try self.post(of: id, url, position: $0) }
            if let post {
                events.posts.append(post)
            } else if webhook["isActive"] as Bool? == true, webhook["wants"] as Int? ?? 0 > 0, createdAt <= at {
                events.waiting.append(url)
            }
        }
        events.posts.sort { $0.acknowledgedAt < $1.acknowledgedAt }
        return events
    }

    /// Returns the acknowledged request that contained the block at a position, or `nil` if there is none.
    private func post(of webhook: UUID, _ url: String, position: Int64) throws -> WebhookPostRecord? {
        let sql = """
            SELECT first, postedAt, acknowledgedAt FROM webhookPost WHERE webhook = ? AND last >= ?
            ORDER BY last LIMIT 1
            """
        guard let row = try self.database.row(sql: sql, [webhook.uuidString, position]),
            let first = row["first"] as Int64?, first <= position, let postedAt = row.time("postedAt"),
            let acknowledgedAt = row.time("acknowledgedAt")
        else { return nil }
        return WebhookPostRecord(webhook: webhook, url: url, postedAt: postedAt, acknowledgedAt: acknowledgedAt)
    }
}
