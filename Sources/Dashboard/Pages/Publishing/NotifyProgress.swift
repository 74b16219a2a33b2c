import ProviderAPI
import ProviderModel
import PushProvider
import PushSupport
import WebPages

/// The progress of an issue's notification, which is sent in waves, and the downloads for which the waves wait.
struct NotifyProgress {
    private let response: NotificationResponse
    /// The numbers of the app's downloads, or `nil` while they are not known.
    private let downloads: DownloadFigures?
    private let summary: NotificationSummary

    /// Reads the notification of an issue. Returns `nil` if there is none or it has been deleted.
    init?(_ issue: IssueRecord, _ request: PageRequest) async throws {
        guard let id = issue.notification else { return nil }
        do {
            self.response = try await request.get("/v1/notifications/\(id)", as: NotificationResponse.self)
        } catch let error as RequestError where error.kind == .notFound {
            return nil
        }
        self.downloads = try await request.get("\(request.api)/downloads", as: OpenDownloadsResponse.self).figures
        self.summary = NotificationSummary(self.response, request)
    }

    var hasEnded: Bool { [.done, .cancelled].contains(self.notification.state) }

    /// A Boolean value that indicates whether nothing will change any more because the notification has ended and no
    /// download is open.
    var isFinal: Bool { self.hasEnded && self.downloads?.open ?? 0 == 0 }

    var left: Int { self.summary.left }

    private var notification: NotificationRecord { self.response.notification }

    // MARK: Waves

    /// The limits of downloads above which the next wave waits, or `nil` if there are none.
    private var limits: SteeringLimits? {
        guard case .waves(_, _, let steering)? = self.notification.pace else { return nil }
        return steering
    }

    /// The number of the current wave, starting at 1, and the total number of waves, or `nil` for a notification that
    /// is not sent in waves.
    var wave: (present: Int, all: Int)? {
        guard case .waves(let size, _, _)? = self.notification.pace, size > 0 else { return nil }
        let progress = self.notification.progress
        let all = max(1, (progress.recipients + size - 1) / size)
        guard let sent = self.response.wave?.sent else { return (self.hasEnded ? all : 0, all) }
        let earlier = max(0, progress.finished + progress.retrying - sent)
        return (self.hasEnded ? all : min(all, (earlier + size - 1) / size + 1), all)
    }

    // MARK: The page

    func model(_ request: PageRequest) -> PageModel {
        let (texts, format) = (request.texts, request.format)
        let state = self.notification.state
        var model = self.summary.model
        model["notificationPath"] = "\(Dashboard.root)\(request.appPath)/notifications/\(self.notification.id)"
        model["issuePath"] = "\(Dashboard.root)\(request.issuePath(request.parameter("issue")))"
        for name in ["nextAt", "secondsLeft", "finishedAt", "pauseReason"] where model[name] == nil {
            model[name] = false
        }
        model["waitingText"] = self.waiting(request) ?? false
        if let wave = self.wave {
            model["waveText"] =
                texts[
                    "publishing.waveOf",
                    ["number": format.number(Double(wave.present)), "count": format.number(Double(wave.all))]
                ]
        } else {
            model["waveText"] = false
        }
        model["openText"] = self.downloads.map { format.number(Double($0.open)) } ?? "–"
        model["rateText"] = self.downloads.map { "\(format.bytes(Double($0.bytesPerSecond)))/s" } ?? "–"
        model["openLimit"] = self.limits?.maximumDownloads.map { format.number(Double($0)) } ?? false
        model["rateLimit"] = self.limits?.maximumBandwidth.map { "\(format.bytes(Double($0)))/s" } ?? false
        let maySend = request.may(.send)
        model["mayPause"] = maySend && [.scheduled, .accepted, .sending].contains(state)
        model["mayResume"] = maySend && state == .paused
        model["mayCancel"] = maySend && !self.hasEnded
        model["left"] = format.number(Double(self.left))
        return model
    }

    /// Returns the reason why the next wave waits, as text with numbers, or `nil` if it does not wait.
    private func waiting(_ request: PageRequest) -> String? {
        guard let cause = self.response.forecast.cause else { return nil }
        let (format, measured) = (request.format, self.response.steered?.figures)
        switch cause {
        case .downloads:
            guard let open = measured?.open, let limit = self.limits?.maximumDownloads else { break }
            return request.texts[
                "publishing.waitsForDownloads",
                ["open": format.number(Double(open)), "limit": format.number(Double(limit))]
            ]
        case .bandwidth:
            guard let rate = measured?.bytesPerSecond, let limit = self.limits?.maximumBandwidth else { break }
            return request.texts[
                "publishing.waitsForBandwidth",
                ["rate": "\(format.bytes(Double(rate)))/s", "limit": "\(format.bytes(Double(limit)))/s"]
            ]
        default: break
        }
        return request.texts["publishing.waits", ["cause": request.texts["notifications.waiting.\(cause.rawValue)"]]]
    }
}
