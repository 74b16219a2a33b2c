import Foundation
import PushTypes

/// The properties that wanted events have. An event matches if it has all that are not `nil`.
struct EventFilter: Hashable, Sendable {
    var device: UUID?
    var environment: PushEnvironment?
    /// The `apns-id`, compared without regard to letter case.
    var apnsID: String?
    var topic: String?

    func matches(_ event: Event) -> Bool {
        if let device, event.device != device { return false }
        if let environment, event.environment != environment { return false }
        if let topic, event.topic != topic { return false }
        if let apnsID {
            guard let id = event.apnsID, id.count == apnsID.count, id.lowercased() == apnsID.lowercased() else {
                return false
            }
        }
        return true
    }
}
