import GRDB
import PushTypes

/// The table of broadcast channels.
struct ChannelTable {
    let database: Database

    /// Returns all channels. Rows with values that the gateway would not have written are left out.
    func channels() throws -> [RegisteredChannel] {
        try self.database.rows("SELECT * FROM channel").compactMap { row in
            guard let environment = row.environment(), let bundleID = row.topic("bundleID"),
                let id = row["id"] as String?, let policy = row.integer("policy").flatMap(ChannelPolicy.init(rawValue:))
            else { return nil }
            let name = ChannelName(bundleID: bundleID, id: id)
            return RegisteredChannel(environment: environment, name: name, policy: policy)
        }
    }

    func insert(_ channel: RegisteredChannel, at now: Timestamp) throws {
        try self.database.run(
            "INSERT INTO channel (environment, bundleID, id, policy, createdAt) VALUES (?, ?, ?, ?, ?)",
            [
                channel.environment.rawValue, channel.name.bundleID.name, channel.name.id, channel.policy.rawValue,
                now.milliseconds,
            ]
        )
    }

    func delete(_ name: ChannelName, in environment: PushEnvironment) throws {
        try self.database.run(
            "DELETE FROM channel WHERE environment = ? AND bundleID = ? AND id = ?",
            [environment.rawValue, name.bundleID.name, name.id]
        )
    }

    /// Removes the channels of an app in both environments.
    func deleteAll(app bundleID: Topic) throws {
        try self.database.run("DELETE FROM channel WHERE bundleID = ?", [bundleID.name])
    }
}
