import WebPages

/// The times of a schedule as fields of a form: those of a common frequency, or a cron expression for any others.
struct CronPlan: Equatable {
    /// The days on which the schedule runs, where `cron` stands for times that only a cron expression can describe.
    enum Frequency: String, CaseIterable {
        case daily, workdays, weekly, monthly, cron
    }

    var frequency = Frequency.cron
    var time = "09:00"
    var weekday = "mon"
    var monthday = "1"
    /// The cron expression, which is used only if the frequency is ``Frequency/cron``.
    var cron = ""

    /// Creates the plan for a cron expression. An expression for a common frequency is recognized, and any other
    /// results in ``Frequency/cron``.
    init(cron: String) {
        self.cron = cron
        let parts = cron.split(separator: " ").map { $0.lowercased() }
        guard parts.count == 5, let minute = Int(parts[0]), (0...59).contains(minute), let hour = Int(parts[1]),
            (0...23).contains(hour), parts[3] == "*"
        else { return }
        self.time = "\(Self.twoDigits(hour)):\(Self.twoDigits(minute))"
        switch (parts[2], parts[4]) {
        case ("*", "*"): self.frequency = .daily
        case ("*", "mon-fri"), ("*", "1-5"): self.frequency = .workdays
        case ("*", let day) where Self.days.contains(day): (self.frequency, self.weekday) = (.weekly, day)
        case (let day, "*") where Int(day).map { (1...31).contains($0) } == true:
            (self.frequency, self.monthday) = (.monthly, day)
        default: break
        }
    }

    /// The cron expression for the plan. The API validates it.
    var expression: String {
        let parts = self.time.split(separator: ":").map(String.init)
        let (hour, minute) = (parts.first.flatMap(Int.init), parts.dropFirst().first.flatMap(Int.init))
        guard self.frequency != .cron, let hour, let minute else { return self.cron }
        return switch self.frequency {
        case .daily: "\(minute) \(hour) * * *"
        case .workdays: "\(minute) \(hour) * * mon-fri"
        case .weekly: "\(minute) \(hour) * * \(self.weekday)"
        case .monthly: "\(minute) \(hour) \(self.monthday) * *"
        case .cron: self.cron
        }
    }

    /// Returns the times as localized text. For a plan without a common frequency, returns the cron expression.
    func words(_ texts: LocalizedTexts) -> String {
        guard self.frequency != .cron else { return self.cron }
        let day = texts["compose.daysOptions.\(self.weekday)"]
        return texts[
            "schedules.words.\(self.frequency.rawValue)",
            ["time": self.time, "weekday": day, "monthday": self.monthday]
        ]
    }

    private static let days = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]

    private static func twoDigits(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
