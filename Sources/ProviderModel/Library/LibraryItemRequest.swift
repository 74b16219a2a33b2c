import Foundation
package import PushSupport

/// The members of the requests that add, save and restore a named audience or a template, which are the same for both.
package enum LibraryItemRequest {
    /// The name of a new item, or the new name of an existing one.
    package static let name = Member.text("name", 1...LibraryText.maximumName)
        .checked("invalid_value", "a name is no UUID") { UUID(uuidString: $0) == nil }
    /// The description of an item. An empty text removes it.
    package static let description = RequestMember<String>(
        "description",
        .string(length: 0...LibraryText.maximumDescription).described("Absent keeps it, an empty text removes it.")
    ) { (fields, name) throws(RequestError) in
        if fields.members[name] == .string("") || fields.nulls.contains(name) { return "" }
        return try fields.string(name, maximum: LibraryText.maximumDescription)
    }
    /// The version that the caller has read, or 0 for a new item. Another current version makes the request fail.
    package static let version = Self.expected("version")
    package static let expectedVersion = Self.expected("expectedVersion")
    package static let restored = Member.integer("version", 1...Int64.max)

    private static func expected(_ name: String) -> RequestMember<Int64> {
        Member.integer(name, 0...Int64.max).described("The version that it must have; 0 for a new one.")
    }

    package static let restore = RequestObject(required: [Self.restored], optional: [Self.expectedVersion])

    /// The descriptions of two request bodies: `new` adds an item, `saved` replaces one that the path names.
    package struct Objects: Sendable {
        package let new, saved: RequestObject

        package init(_ contents: any RequestMemberProtocol) {
            self.new = RequestObject(
                required: [LibraryItemRequest.name.described("No UUID."), contents],
                optional: [LibraryItemRequest.description, LibraryItemRequest.version]
            )
            self.saved = RequestObject(
                required: [contents],
                optional: [
                    LibraryItemRequest.name.described("Renames it. No UUID."), LibraryItemRequest.description,
                    LibraryItemRequest.version,
                ]
            )
        }
    }
}

/// The limits on the texts of named audiences and templates.
package enum LibraryText {
    /// The maximum length of a name, in bytes. A longer one is rejected.
    package static let maximumName = Member.maximumText
    /// The maximum length of a description, in bytes.
    package static let maximumDescription = 1000
}
