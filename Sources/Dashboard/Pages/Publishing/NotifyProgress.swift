import PushHTTP
import PushStore
import PushSupport
import WebPages

/// The notification of an issue while it is sent in waves, with the downloads for which they wait.
struct NotifyProgress {
    private let notification: JSONValue
    private let downloads: JSONValue
    private let summary: NotificationSummary

    /// Reads the notification of an issue; `nil` if there is none, or it is forgotten.
    init?(_ issue: JSONValue, _ request: PageRequest) async throws {
        guard let id = issue["notification"].stringValue else { return nil }
        do {
            self.notification = try await request.get("/v1/notifications/\(FormText.encoded(id))")
        } catch let error as RequestError where error.kind == .notFound {
            return nil
        }
        self.downloads = try await request.getOfApp("/downloads")
        self.summary = NotificationSummary(self.notification, texts: request.texts, format: request.format)
    }

    /// Indicates whether nothing more is sent.
    var hasEnded: Bool { ["done", "cancelled"].contains(self.notification["state"].stringValue ?? "") }

    /// Indicates whether nothing more changes: neither pushes nor downloads go on.
    var isFinal: Bool { self.hasEnded && (self.downloads["openDownloads"].integerValue ?? 0) == 0 }

    /// The devices that are left.
    var left: Int64 { max(0, self.summary.recipients - self.summary.finished) }

    // MARK: Waves

    private var waves: JSONValue { self.notification["pace"]["waves"] }

    /// The number of the present wave, from 1, and of all; `nil` for a notification without waves.
    var wave: (present: Int64, all: Int64)? {
        guard let size = self.waves["size"].integerValue, size > 0 else { return nil }
        let all = max(1, (self.summary.recipients + size - 1) / size)
        guard let sent = self.notification["wave"]["sent"].integerValue else { return (self.hasEnded ? all : 0, all) }
        let started = self.summary.finished + self.summary.counter("retrying")
        let earlier = max(0, started - sent)
        return (self.hasEnded ? all : min(all, (earlier + size - 1) / size + 1), all)
    }

    // MARK: The page

    /// Returns the variables of the template `issue-progress`.
    func model(_ request: PageRequest) -> PageModel {
        let (texts, format) = (request.texts, request.format)
        let id = self.notification["id"].stringValue ?? ""
        let state = self.notification["state"].stringValue ?? ""
        var model = self.summary.model
        model["notificationPath"] = "\(Dashboard.root)\(request.appPath)/notifications/\(FormText.encoded(id))"
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
        let steering = self.waves["steering"]
        model["openText"] = self.downloads["openDownloads"].numberValue.map(format.number) ?? "–"
        model["rateText"] = self.downloads["bytesPerSecond"].numberValue.map { "\(format.bytes($0))/s" } ?? "–"
        model["openLimit"] = steering["maximumDownloads"].numberValue.map(format.number) ?? false
        model["rateLimit"] = steering["maximumBandwidth"].numberValue.map { "\(format.bytes($0))/s" } ?? false
        let maySend = request.may(.send)
        model["mayPause"] = maySend && ["scheduled", "accepted", "sending"].contains(state)
        model["mayResume"] = maySend && state == "paused"
        model["mayCancel"] = maySend && !self.hasEnded
        model["left"] = format.number(Double(self.left))
        return model
    }

    /// Returns what the next wave waits for, with the figures; `nil` if it waits for nothing.
    private func waiting(_ request: PageRequest) -> String? {
        guard let cause = self.notification["waitingFor"].stringValue else { return nil }
        let (format, steering) = (request.format, self.waves["steering"])
        let measured = self.notification["steering"]
        switch cause {
        case "downloads":
            let (open, limit) = (measured["openDownloads"].numberValue, steering["maximumDownloads"].numberValue)
            guard let open, let limit else { break }
            return request.texts[
                "publishing.waitsForDownloads",
                ["open": format.number(open), "limit": format.number(limit)]
            ]
        case "bandwidth":
            let (rate, limit) = (measured["bytesPerSecond"].numberValue, steering["maximumBandwidth"].numberValue)
            guard let rate, let limit else { break }
            return request.texts[
                "publishing.waitsForBandwidth",
                ["rate": "\(format.bytes(rate))/s", "limit": "\(format.bytes(limit))/s"]
            ]
        default: break
        }
        return request.texts["publishing.waits", ["cause": request.texts["notifications.waiting.\(cause)"]]]
    }
}
