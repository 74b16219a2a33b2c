import ProviderModel
import PushTypes

/// Counts the active devices of an audience in steps over ranges of ids, so that no step holds its snapshot for long,
/// however many devices there are and however costly the condition is.
struct DeviceCount: Sendable {
    struct Progress: Sendable {
        /// The highest id up to which devices have been counted.
        fileprivate var cursor = Int64.min
        fileprivate var found = 0
        /// The number of ids that the next step covers.
        fileprivate var size: Int
        /// The index ranges that find the devices, or `nil` until they are chosen. An inner `nil` means a full scan.
        fileprivate var driver: AudienceDriver??

        init(size: Int = 2000) { self.size = size }
    }

    /// The minimum intended time of a step. The maximum intended time is twice as long.
    private static let stepTime: Duration = .milliseconds(50)
    /// The minimum intended time of a step that looks up devices through index ranges, which each step reads again.
    private static let lookUpTime: Duration = .milliseconds(250)
    /// The maximum number of entries in index ranges whose devices are looked up in a single step.
    private static let lookedUpAtOnce = 1000
    private static let largest = 1_000_000

    private let app: Int64
    private let audience: AudienceExpression
    private let environment: PushEnvironment?
    private let kind: DeviceTokenKind?

    init(_ audience: AudienceExpression, environment: PushEnvironment?, kind: DeviceTokenKind?, app: Int64) {
        (self.app, self.audience, self.environment, self.kind) = (app, audience, environment, kind)
    }

    @Sendable func step(in database: any SQLConnection, _ progress: Progress) throws -> QueryStep<Progress, Int> {
        // A covering index makes this count fast.
        if self.audience == .everyone { return .done(try self.count("", [], in: database)) }
        var progress = progress
        let driver = try progress.driver ?? self.driver(in: database)
        let start = ContinuousClock.now
        let next = """
            SELECT id FROM device INDEXED BY deviceByApp WHERE app = ? AND id > ? ORDER BY id LIMIT 1 OFFSET ?
            """
        let isShort = driver.map { $0.count <= Self.lookedUpAtOnce } ?? false
        let end = isShort ? nil : try database.integer(sql: next, [self.app, progress.cursor, progress.size - 1])
        let range = " AND id > ? AND id <= ?\(driver.condition)"
        let bounds = [progress.cursor, end ?? .max].map(\.sqlValue)
        let lookedUp = driver?.arguments(after: progress.cursor, upTo: end ?? .max) ?? []
        progress.found += try self.count(
            driver == nil ? "INDEXED BY deviceByApp" : "NOT INDEXED",
            condition: range,
            bounds + lookedUp,
            in: database
        )
        guard let end else { return .done(progress.found) }
        (progress.cursor, progress.driver) = (end, .some(driver))
        let goal = driver == nil ? Self.stepTime : Self.lookUpTime
        progress.size = Self.size(after: progress.size, time: ContinuousClock.now - start, goal: goal)
        return .next(progress)
    }

    private func driver(in database: any SQLConnection) throws -> AudienceDriver? {
        // Looking a device up takes longer than reading it in a scan.
        let most = Int(clamping: try Self.devices(of: self.app, in: database).count / 3)
        return try AudienceDriver.choose(self.audience, of: self.kind, app: self.app, limit: most, in: database)
    }

    private func count(
        _ index: String,
        condition: String = "",
        _ arguments: [SQLValue],
        in database: any SQLConnection
    ) throws -> Int {
        let filter = AudienceSQL(self.audience, app: self.app, database.attributes)
        let sql = """
            SELECT count(*) FROM device \(index)
            WHERE app = ? AND isActive = 1\(AudienceSQL.only(self.environment, self.kind)) AND \(filter.sql)\(condition)
            """
        let all = [self.app.sqlValue] + filter.arguments + arguments
        return try database.count(sql: sql, SQLArguments(all), isKept: false)
    }

    /// Returns the number of ids that the next step should cover to take the time `goal`, given the last step.
    static func size(after size: Int, time: Duration, goal: Duration) -> Int {
        if time < goal / 8 { return min(size * 8, Self.largest) }
        if time < goal { return min(size * 2, Self.largest) }
        return time > goal * 2 ? max(size / 2, 1) : size
    }

    /// Returns the first and the last id of an app's devices, and an upper bound of their number.
    static func devices(of app: Int64, in database: any SQLConnection) throws -> (
        first: Int64, last: Int64, count: Int64
    ) {
        let sql = """
            SELECT (SELECT id FROM device WHERE app = ?1 ORDER BY id LIMIT 1) AS first,
                (SELECT id FROM device WHERE app = ?1 ORDER BY id DESC LIMIT 1) AS last
            """
        let row = try database.row(sql: sql, [app])
        guard let first = row?["first"] as Int64?, let last = row?["last"] as Int64? else { return (1, 0, 0) }
        return (first, last, last - first + 1)
    }
}
