import ProviderAPI
import ProviderModel
import PushProvider
import PushTypes
import WebPages

/// The state and the numbers of a notification, as lists and the page of the notification show them.
struct NotificationSummary {
    private let response: NotificationResponse
    private let texts: LocalizedTexts
    private let format: PageFormat

    init(_ response: NotificationResponse, _ request: PageRequest) {
        (self.response, self.texts, self.format) = (response, request.texts, request.format)
    }

    private var progress: NotificationProgress { self.response.notification.progress }

    /// The template variables: the API members, and texts for the state, the progress and the reason why the
    /// notification waits.
    var model: PageModel {
        var model = PageValue.members(self.response)
        let (state, forecast) = (self.response.notification.state, self.response.forecast)
        let (recipients, finished) = (self.progress.recipients, self.progress.finished)
        model["title"] = self.title
        model["stateText"] = self.texts["notifications.states.\(state.rawValue)"]
        model["stateKind"] = self.kind(state)
        model["finished"] = self.format.number(Double(finished))
        model["plainFinished"] = "\(finished)"
        model["plainRecipients"] = "\(max(recipients, finished, 1))"
        model["path"] = "\(self.appPath)/notifications/\(self.response.notification.id)"
        model["appPath"] = self.appPath
        model["hasProgress"] = max(recipients, finished) > 0
        model["percent"] = recipients > 0 ? "\(finished * 100 / recipients) %" : "–"
        model["bad"] = self.format.number(Double(self.bad))
        model["hasBad"] = self.bad > 0
        model["isWaiting"] = state == .scheduled || forecast.nextAt != nil
        if let cause = forecast.cause {
            model["waitingText"] = self.texts["notifications.waiting.\(cause.rawValue)"]
        }
        return model
    }

    var title: String { NotificationName.of(self.response) }

    private var appPath: String { "\(Dashboard.root)\(PageRequest.appPath(self.response.app?.name ?? ""))" }

    /// The number of recipients whose pushes were rejected or have failed.
    var bad: Int { self.progress.rejected + self.progress.failed }

    var left: Int { max(0, self.progress.recipients - self.progress.finished) }

    private func kind(_ state: NotificationRecord.State) -> String {
        switch state {
        case .done: self.progress.accepted == 0 && self.bad > 0 ? "bad" : "good"
        case .sending, .accepted: "run"
        case .scheduled: "wait"
        case .paused: "warn"
        case .cancelled: "bad"
        }
    }
}
