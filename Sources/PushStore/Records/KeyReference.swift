package import Foundation

/// The API key of a request, as what the request made keeps it.
package struct KeyReference: Hashable, Sendable {
    package var id: UUID
    /// The name of the key at that time.
    package var name: String

    package init(id: UUID, name: String) { (self.id, self.name) = (id, name) }
}
