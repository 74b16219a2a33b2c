import Foundation
import GRDB
import PushSupport

/// The attributes of a registration. The JSON text of a device has them all, and the rows by which devices are searched
/// have the same.
extension Registration {
    /// The attributes after a registration.
    struct Merged {
        var all: [String: JSONValue]
        /// The stored form; `nil` without attributes.
        var text: String?
        /// The size before the registration.
        var before: DeviceBounds.Size?
        /// Indicates whether the rows of all earlier attributes are replaced: these could not be read, or names may look
        /// like those of the registration.
        var replacesAll = false
    }

    /// Returns the bound that the registration would exceed; `nil` if none.
    func excess(_ attributes: Merged?) -> ExceededDeviceBound? {
        let ofAttributes = attributes.flatMap { attributes in
            attributes.text.flatMap { DeviceBounds.excess(attributes: attributes.all, $0, before: attributes.before) }
        }
        return ofAttributes ?? self.registration.tags.flatMap(DeviceBounds.excess)
    }

    /// Returns all attributes after this registration; `nil` if it changes none. Writes nothing.
    func merged(into known: RegisteredRow?) throws -> Merged? {
        let changes = self.registration.attributes
        guard !changes.isEmpty else { return nil }
        guard let known, !known.hasLeft else {
            let all = changes.compactMapValues(\.value)
            return Merged(all: all, text: all.isEmpty ? nil : try Self.text(all))
        }
        let row = try self.database.row(sql: "SELECT attributes FROM device WHERE id = ?", [known.id])
        let stored = row?["attributes"] as String?
        let readable = try? DeviceAttributes.read(stored)
        // Attributes that cannot be read are replaced: keeping them would reject every later registration.
        var attributes = readable ?? [:]
        let before = DeviceBounds.Size(count: attributes.count, bytes: stored?.utf8.count ?? 0)
        for (name, change) in changes {
            // Of names that look the same the newest stays (docs/decisions/0034).
            attributes.removeValue(forKey: name)
            attributes[name] = change.value
        }
        let mayLookAlike = changes.keys.contains { !$0.utf8.allSatisfy { $0 < 0x80 } }
        return Merged(
            all: attributes,
            text: try Self.text(attributes),
            before: before,
            replacesAll: readable == nil || mayLookAlike
        )
    }

    /// Writes the rows by which the changed attributes are searched.
    func write(_ attributes: Merged, of device: Int64) throws {
        if attributes.replacesAll {
            try self.database.run(sql: "DELETE FROM deviceAttribute WHERE device = ?", [device])
            return try self.add(attributes.all, to: device)
        }
        let changes = self.registration.attributes
        let sql = "DELETE FROM deviceAttribute WHERE device = ? AND app = ? AND name = ?"
        for name in changes.keys { try self.database.run(sql: sql, [device, self.app, name]) }
        try self.add(changes.compactMapValues(\.value), to: device)
    }

    func add(_ attributes: [String: JSONValue], to device: Int64) throws {
        for (name, value) in attributes {
            guard let stored = DeviceAttributes.stored(value) else { continue }
            let values: ColumnValues = ["app": self.app, "name": name, "value": stored, "device": device]
            try self.database.replace(in: "deviceAttribute", values)
        }
    }

    private static func text(_ attributes: [String: JSONValue]) throws -> String {
        String(decoding: try JSONValue.object(attributes).text, as: UTF8.self)
    }
}

/// The stored form of attributes: all of a device in one JSON text, and each in a row to be searched.
enum DeviceAttributes {
    /// Reads all attributes of a device.
    /// - Throws: ``DamagedRow`` if they cannot be read.
    static func read(_ text: String?) throws -> [String: JSONValue] {
        guard let text else { return [:] }
        guard let value = try? JSONValue(parsing: Data(text.utf8)), case .object(let members) = value
        else { throw DamagedRow(table: "device") }
        return members
    }

    /// Returns a value as it is searched for; `nil` for one that is neither a text, a number nor a truth value.
    static func stored(_ value: JSONValue) -> DatabaseValue? {
        switch value {
        case .string(let text): text.databaseValue
        case .integer(let number): number.databaseValue
        case .number(let number): number.databaseValue
        // A blob, so that it equals no number and no text.
        case .bool(let flag): Data([flag ? 1 : 0]).databaseValue
        case .null, .array, .object: nil
        }
    }
}
