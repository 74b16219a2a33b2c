import ProviderAPI
import PushStore
import WebPages

/// The campaigns in progress, as the template `sending` shows them.
enum SendingModel {
    /// Returns the rows, and the number of those that are being sent.
    ///
    /// - Parameters:
    ///   - campaigns: The notifications, as the API lists them.
    ///   - showsApp: Whether they are of several apps.
    static func model(_ campaigns: [NotificationResponse], _ request: PageRequest, showsApp: Bool) -> (PageModel, Int64)
    {
        let count = campaigns.count { $0.notification.state == .sending }
        return (["sending": self.rows(campaigns, request), "showsApp": showsApp], Int64(count))
    }

    /// Returns the values of notifications in a list.
    static func rows(_ notifications: [NotificationResponse], _ request: PageRequest) -> [PageModel] {
        notifications.map { NotificationSummary($0, request).model }
    }
}
