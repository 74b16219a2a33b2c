package import Foundation
package import PushTypes

/// What a request wants to be shown or handed over, checked: ready to be stored.
package struct ContentDefinition: Hashable, Sendable {
    package let topic: Topic
    package let pushType: PushType
    package let priority: Priority
    package let expiration: Expiration
    package let collapseID: String?
    /// The JSON text of the payload; of a template, what ``ContentRenderer`` reads.
    package let payload: Data
    /// Whether the payload depends on the device.
    package let isTemplate: Bool
    /// Not stored.
    package let warnings: [ContentWarning]
}
