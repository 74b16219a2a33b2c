package import Foundation
package import PushSupport
package import PushTypes

/// An audience or a template that an app keeps under a name for its notifications.
package struct LibraryItem: Hashable, Sendable {
    /// The kinds of items. Each kind has its own names.
    package enum Kind: String, Hashable, Sendable, CaseIterable {
        case audience
        case template
    }

    package var id: UUID
    package var app: Int64
    package var kind: Kind
    /// The position in lists of items, which the store assigns.
    package var number: Int64 = 0
    package var name: String
    package var description: String?
    /// The audience as in a request, or the members of the template's content.
    package var body: [String: JSONValue]
    /// The number of the current version, from 1. Each change creates a new version, and versions never change.
    package var version: Int64
    package var createdAt: Timestamp
    /// The caller that added the item, or `nil` if it is not known.
    package var createdBy: KeyReference?
    package var changedAt: Timestamp
    package var changedBy: KeyReference?

    package init(
        id: UUID,
        app: Int64,
        kind: Kind,
        name: String,
        description: String?,
        body: [String: JSONValue],
        version: Int64,
        createdAt: Timestamp,
        createdBy: KeyReference?
    ) {
        (self.id, self.app, self.kind, self.name, self.description) = (id, app, kind, name, description)
        (self.body, self.version, self.createdAt, self.createdBy) = (body, version, createdAt, createdBy)
        (self.changedAt, self.changedBy) = (createdAt, createdBy)
    }
}

/// An item in a list: its id and name without its body.
package struct LibraryEntry: Hashable, Sendable {
    package var id: UUID
    package var number: Int64
    package var name: String

    package init(id: UUID, number: Int64, name: String) { (self.id, self.number, self.name) = (id, number, name) }
}

package struct LibraryVersion: Hashable, Sendable {
    package var version: Int64
    package var name: String
    package var description: String?
    package var body: [String: JSONValue]
    package var at: Timestamp
    package var by: KeyReference?
    /// The earlier version whose contents this one restores, or `nil` for a version with new contents.
    package var restoredFrom: Int64?

    package init(
        version: Int64,
        name: String,
        description: String? = nil,
        body: [String: JSONValue],
        at: Timestamp,
        by: KeyReference? = nil,
        restoredFrom: Int64? = nil
    ) {
        (self.version, self.name, self.description, self.body, self.at) = (version, name, description, body, at)
        (self.by, self.restoredFrom) = (by, restoredFrom)
    }
}

/// The reference to an item of an app, by its id or name.
package enum LibraryItemName: Hashable, Sendable {
    case id(UUID)
    case name(BytewiseString)

    /// Reads the id of an item, or its name. No name is a UUID.
    package init(_ text: String) { self = UUID(uuidString: text).map(Self.id) ?? .name(BytewiseString(text)) }
}

/// The use of an item by a schedule. A used item cannot be deleted.
package struct LibraryUse: Hashable, Sendable {
    package var item: UUID
    /// The version that the schedule names, or `nil` for the newest at each run.
    package var version: Int64?

    package init(item: UUID, version: Int64? = nil) { (self.item, self.version) = (item, version) }
}

/// The limits on an app's items of one kind.
package struct LibraryLimits: Hashable, Sendable {
    /// The maximum number of items of the kind in an app, beyond which none is added. Default 500.
    package var items = 500
    /// The maximum number of versions of an item that are kept, besides those that schedules name: the newest. Default
    /// 100.
    package var versions = 100
    /// The maximum size of an item's body, in bytes. Default 64 kB.
    package var bytes = 64 * 1024
    /// The total size of the bodies after which a page of a list ends and the next one begins, in bytes. Default 1 MiB.
    package var pageBytes = 1024 * 1024

    package init() {}
}

/// A change of an item that a caller requests.
package struct LibraryChange: Hashable, Sendable {
    package enum Action: Hashable, Sendable {
        /// An action that adds an item, whose name must be free.
        case add
        /// An action that replaces an item, or adds one with that name if there is none.
        case save
        /// An action that replaces an item, which must exist.
        case replace
        /// An action that restores the body of an earlier version as a new version. The item keeps its name.
        case restore(version: Int64)
    }

    package var action: Action
    package var app: Int64
    package var kind: LibraryItem.Kind
    package var item: LibraryItemName
    /// The new name, or `nil` to keep the current one.
    package var name: String?
    /// The new description, `nil` to keep the current one, or an empty text to remove it.
    package var description: String?
    /// The new body, or `nil` to keep the current one.
    package var body: [String: JSONValue]?
    /// The version that the caller has read, or `nil` for any. An item with another version by now is not changed.
    package var expected: Int64?
    package var by: KeyReference?
    package var at: Timestamp

    package init(
        _ action: Action,
        app: Int64,
        kind: LibraryItem.Kind,
        item: LibraryItemName,
        by: KeyReference?,
        at: Timestamp
    ) {
        (self.action, self.app, self.kind, self.item, self.by, self.at) = (action, app, kind, item, by, at)
    }
}

/// The result of a change of an item.
package enum LibraryChangeResult: Hashable, Sendable {
    /// A result for an item that was changed, or that was added if `isNew` is `true`.
    case changed(LibraryItem, isNew: Bool)
    case deleted
    case missing
    /// A refusal because the version to be restored is not kept any more.
    case missingVersion
    /// A refusal because the item has this version, and not ``LibraryChange/expected``.
    case stale(version: Int64)
    case nameTaken
    /// A refusal because the app has as many items of the kind as the limits allow.
    case tooMany
    /// A refusal because the named schedules use the item, which can be neither renamed nor deleted.
    case inUse(schedules: [String])
}
