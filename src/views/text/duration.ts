// Formats durations and times.

const SECOND = 1000;

/** "5 s", "2 min 5 s", "3 h 20 min", "4 days". */
export function durationText(milliseconds: number): string {
  const seconds = Math.max(0, Math.round(milliseconds / SECOND));
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  if (seconds < 172_800) return `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`;
  return `${Math.floor(seconds / 86_400)} days`;
}

/** The same with milliseconds below a second: "65 ms". For what is over, and does not count down. */
export function exactDuration(milliseconds: number): string {
  if (milliseconds >= SECOND || milliseconds <= 0) return durationText(milliseconds);
  return `${Math.max(1, Math.floor(milliseconds))} ms`;
}

/** For estimates: no seconds next to minutes. */
export function roughly(milliseconds: number): string {
  const seconds = Math.max(0, Math.round(milliseconds / SECOND));
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 60) return `${minutes} min`;
  if (minutes % 60 === 0) return `${minutes / 60} h`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** "0:05", "12:41", "1:02:09": it grows in place. */
export function stopwatch(milliseconds: number): string {
  const seconds = Math.max(0, Math.floor(milliseconds / SECOND));
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  const tail = String(seconds % 60).padStart(2, "0");
  return hours === 0 ? `${minutes}:${tail}` : `${hours}:${String(minutes).padStart(2, "0")}:${tail}`;
}

export function ago(timestamp: string, now: Date): string {
  const elapsed = now.getTime() - Date.parse(timestamp);
  return elapsed < SECOND ? "just now" : `${durationText(elapsed)} ago`;
}

/** "2026-02-14 22:58" in local time. */
export function dayAndTime(timestamp: string): string {
  const time = new Date(timestamp);
  const two = (value: number) => String(value).padStart(2, "0");
  return `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())} ${clockTime(time).slice(0, 5)}`;
}

/** HH:MM:SS in local time. */
export function clockTime(time: Date): string {
  return time.toTimeString().slice(0, 8);
}
